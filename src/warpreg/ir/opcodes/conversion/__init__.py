"""Opcodes that convert between types: `cvt` and its narrow, scaled and stochastic forms."""
