"""The pipes of an SM: their names in machine files, and their numbers in the timing core."""

from __future__ import annotations

PIPES = ("int", "fp", "sfu", "dp", "tensor", "mem", "tex", "ctrl", "uniform")
INT, FP, SFU, DP, TENSOR, MEM, TEX, CTRL, UNIFORM = range(len(PIPES))
UNTIMED = (PIPES[MEM], PIPES[TEX])
"""Pipes whose results come from the memory system, so they have no latency of their own."""
