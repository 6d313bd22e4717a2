"""Properties of SASS opcodes: pipe, latency class, effect on the path, operand widths.

Read `opcodes.toml` (one row per opcode), `opcodes` (its reader), then `widths` (registers of each operand).
"""
