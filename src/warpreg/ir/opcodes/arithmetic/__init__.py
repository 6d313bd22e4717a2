"""Opcodes that compute: integers, floats, halves, packed and video types, comparisons, bits."""
