"""Workloads after the samples of NVIDIA's CUDA SDK."""
