"""Registers that several loads share: what LARF and LAS are made of (thesis of 2021, chapter 5).

Read `address_table` (which physical register holds what a load has read), `merging` (two registers that together hold
it), `registers` (renaming with counted references) and `waiting` (loads that wait for another one).  `shared_loads` and
`results` decide, `hooks` calls them at the points of an instruction's life.  `shadow` proves that no shared value is
stale; it knows nothing of the rest, so that other designs that answer loads can use it.  All functions run inside
hooks; a state that uses a module has the fields that its docstring names.
"""
