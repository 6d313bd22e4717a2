"""How hot loops become machine code: numba functions with all that they call, kept on disk.

Start at `functions`: `dependencies` makes the key of a function from what it depends on, `numba_internals` compiles it,
`entry_points` and `core_cache` keep the result.
"""
