"""Workloads after the layers of neural networks, after the Tango suite."""
