"""Compilation of hot loops: plain functions are bound to each other by rebuilding and compiled as one.

Start at `recipe`.  `dependencies` computes the cache key of a function, `rebuild` binds hooks, `compiler` selects
`numba_internals` or plain numba, `code_cache` stores machine code.  `piecewise` compiles each function once, `units`
links them.  `natives`, `bare_arrays`, `records` and `sealed` extend the numba subset.
"""
