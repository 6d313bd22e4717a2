"""Workloads after image and video programs of the register file cache paper's trace categories."""
