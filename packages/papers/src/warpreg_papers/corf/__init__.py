"""Coalescing operand register file (thesis of 2021, chapter 2).

Read `results`; `designs` defines workloads, machine and designs, `sources` measures of the code, `costs` the energy.
"""
