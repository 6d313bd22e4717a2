"""Tools of those who develop Warpreg: benchmarks, comparisons with other compilers and simulators, pages of the docs.

Read `bench` (speed), `suite` (the workloads beside their namesakes), `compiler` (`ptxas`), `accelsim` (cycles).
"""
