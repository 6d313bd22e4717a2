"""Load a design from a file.

Read `loader` (finds and runs the file), `checks` (reports errors in it), `design` (the result), then `composition` and
`composed_hooks` (several designs as one).
"""
