"""Shader-like workloads: short kernels of many threads, rich in texture fetches."""
