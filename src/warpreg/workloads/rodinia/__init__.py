"""Workloads after the Rodinia suite."""
