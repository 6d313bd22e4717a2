"""Comparison of the compiler with `ptxas`: registers and instructions of every kernel, and its documentation page."""
