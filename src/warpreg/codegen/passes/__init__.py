"""Passes that simplify a kernel of virtual registers; `base` says what a pass is, `pipeline` their order.

Read `base`; then fold, share, narrow, fuse and form machine instructions, a pass a file; `legalize` and
`number_registers` are the last.
"""
