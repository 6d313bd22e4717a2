"""Registers in slices of physical registers: what register packing, virtualization, CORF and CORF++ share.

Read `slices` (masks of a physical register), `free_map` (which slices are free), `table` (where each register is) and
`policies` (where a value goes).  All functions run inside hooks; the state of a design that uses them has the fields
that `free_map` and `table` name.
"""
