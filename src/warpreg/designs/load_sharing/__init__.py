"""Loaded values that warps have in common."""
