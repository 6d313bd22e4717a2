"""Loads that share registers, LARF and LAS (thesis of 2021, chapter 5).

Read `results`; `sources` names the workloads, `designs` the machines and designs, `layers` measures every launch of a
workload, `frames` turns them into the figures.
"""
