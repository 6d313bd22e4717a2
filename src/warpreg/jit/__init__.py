"""How hot loops become machine code: plain functions, bound to each other by rebuilding and compiled as one.

Start at `recipe`.  `dependencies` makes the key of a function from what it reaches, `rebuild` binds hooks, `compiler`
chooses between `numba_internals` and plain numba, `code_cache` keeps the result.  `natives`, `bare_arrays` and
`records` are what compiled code has beyond the numba subset.
"""
