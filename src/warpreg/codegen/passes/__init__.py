"""Passes that simplify a kernel of virtual registers; `base` defines a pass, `pipeline` their order.

Read `base`; then the passes, one per file: fold, share, narrow, fuse and form machine instructions.  `legalize` and
`number_registers` are last.
"""
