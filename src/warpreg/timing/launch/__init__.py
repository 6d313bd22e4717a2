"""Runs of the core, from a recorded launch to a result.

Read `simulate`; then `engine` (one run), `allocate` (its arrays), `binding` and `compile` (its machine code),
`recording` (its schedule), and `estimate` with `sampling` (partial runs).
"""
