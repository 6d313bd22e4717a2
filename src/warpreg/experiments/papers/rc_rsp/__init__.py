"""Register cache and register scratchpad (Bailey et al., CASES 2018).

Read `results`; `designs` are the points of its figures, `cycles` its IPC.
"""
