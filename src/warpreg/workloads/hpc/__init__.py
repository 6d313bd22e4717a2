"""Workloads after numerical programs of the register file cache paper's trace categories."""
