"""Mutated PTX through the whole way of a kernel: parse, build, compile, execute.

`corpus` gives the texts, `mutate` changes them, `trial` takes one mutant as far as it goes, `slices` runs many of them
in a process of its own, and `campaign` runs slices, survives their crashes and writes the record in
``docs/explanation/robustness.md``.
"""
