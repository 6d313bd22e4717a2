"""From a file to a design that a core can run.

Read `loader` (finds and runs the file), `checks` (what is wrong with it), `design` (the result), then `composition`
and `composed_hooks` (several designs as one).
"""
