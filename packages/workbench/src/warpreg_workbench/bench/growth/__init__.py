"""``warpreg bench growth``: how cost and memory grow with the length of a run, the size of a kernel and the SMs.

Read `point` (one measurement in its own process), then `axes` (which points, and their exponents).
"""
