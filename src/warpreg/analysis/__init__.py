"""Analyses of a kernel: control flow, dominators, loops, liveness, values, pressure; each is cached per kernel."""
