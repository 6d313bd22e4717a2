"""Input of the core from recorded runs: visits, access records and the table of the kernel.

Read `feed`, the driver; `split_warps` and `decode`, which read the trace; `memory_sites` and `coalescer`, which form
transactions from addresses; and `kernel_table`, which describes the instructions.
"""
