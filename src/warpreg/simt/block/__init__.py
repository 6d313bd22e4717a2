"""One basic block of a kernel as a native function.

Read `records` (the state of a warp), `register_storage` (where registers lie), `block_values` (values inside a block),
then what a block also does: `stops`, `address_recording`, `widths`, `taints`.
"""
