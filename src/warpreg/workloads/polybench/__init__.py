"""Workloads after PolyBench-GPU."""
