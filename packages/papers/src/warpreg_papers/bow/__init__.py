"""Bypassing operand collectors, BOW and BOW-WR (thesis of 2021, chapter 3).

Read `results`; `designs` defines workloads, machine and designs, `frames` the figures, `costs` their energy.  `samples`
measures designs in time, with the times of instructions that `instruction_times` keeps; `sources` counts operands, and
`figure_36` is the code of Table 3.1.
"""
