"""Measurements: runs of workloads, comparisons of designs, results of papers, and the speed of the package.

Read `runs` (one workload), `studies` (many), `papers` (printed results); the other packages are separate experiments.
"""
