"""Runs of workloads and comparisons of designs, as users start them.

Read `runs` (one workload), `studies` (many), `sweep` (many designs and parameters); `measures` and `oracle` use them.
"""
