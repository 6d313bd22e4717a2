"""Bypassing operand collectors, BOW and BOW-WR (thesis of 2021, chapter 3).

Read `results`; `designs` defines workloads, machine and designs, `frames` the figures, `costs` their energy.
`recorder` keeps the times of instructions (`instruction_times`); `sources` counts operands, and `figure_36` is the code
of Table 3.1.
"""
