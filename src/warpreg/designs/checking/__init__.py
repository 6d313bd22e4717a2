"""Checks in the hooks of designs that are not the package's own.

Read `checked_hooks` (what is checked, as a whole), then `rewrite` (where checks are put into an author's code),
`ranges` (what each argument of a plan function may be), `guards` (what a check does), `running` (how a failed one
becomes a message).
"""
