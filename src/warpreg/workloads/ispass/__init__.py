"""Workloads after the benchmarks that GPGPU-Sim was introduced with (Bakhoda et al., ISPASS 2009)."""
