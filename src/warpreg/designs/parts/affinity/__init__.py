"""Register affinity: registers that are read together, and compiler hints derived from it (thesis of 2021, chapter 2).

Read `graph` (the register affinity graph), `pairs` and `metadata` (CORF), then `odd_cycles`, `alignment` and `preset`
(CORF++).  `optimal_alignments` is the exact alignment, the reference for the heuristic.
"""
