"""Export of recorded runs as traces in the format of Accel-Sim.

Read `export`, then its parts: `lines` (constant text of instructions), `mnemonics` (PTX to SASS opcodes), `records`
(addresses).
"""
