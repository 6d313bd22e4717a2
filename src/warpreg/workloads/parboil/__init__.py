"""Workloads after the Parboil suite."""
