"""One basic block of a kernel as a native function.

Read `records` (the state of a warp), `register_storage` (the layout of registers), `block_values` (values inside a
block), then faults and recording: `stops`, `address_recording`, `widths`, `taints`.
"""
