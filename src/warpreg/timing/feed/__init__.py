"""Recorded runs as the core takes them: visits, memory records and the table of the kernel.

Read `feed`, which drives it: `split_warps` and `decode` read the trace, `memory_sites` and `coalescer` make
transactions of addresses, `kernel_table` describes the instructions.
"""
