"""Measurements: runs of workloads, designs compared on them, the papers' results, and the speed of the package itself.

Read `runs` (one workload), `studies` (many), `papers` (printed results); the rest are experiments of their own.
"""
