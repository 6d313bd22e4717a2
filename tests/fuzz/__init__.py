"""Mutated PTX through all stages: parse, build, compile, execute.

`corpus` provides the texts, `mutate` changes them, `trial` runs one mutant as far as possible, `slices` runs many of
them in one process, and `campaign` runs slices, survives their crashes and writes the record in
``docs/explanation/robustness.md``.
"""
