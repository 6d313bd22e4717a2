"""Compile-time managed register file hierarchy (Gebhart et al., MICRO 2011).

Read `results`; `limits` are the limit studies of section 7, `variable_orf` the oracle of variable sizes.
"""
