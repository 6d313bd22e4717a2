"""Register cache and register scratchpad (Bailey et al., CASES 2018).

Read `results`; `designs` defines the configurations of its figures, `cycles` the results with cycles.
"""
