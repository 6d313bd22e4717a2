"""Reconstruction of kernels and paths from steps, in two passes.

Read `first_pass` with `catalogue` (text to steps and static instructions), `flow` and `walk` (control flow from the
order and the masks of steps), then `second_pass` with `program` (steps to paths and a kernel).
"""
