"""Runs of the core, from a recorded launch to a result.

Read `simulate`; then `engine` (one run), `allocate` (its arrays), `binding`, `variants` and `compile` (its machine
code), `explained` (the functions that it consists of), `schedule_recording` (its schedule), `waits_by_instruction`, and
`estimate` with `sampling` (partial runs).
"""
