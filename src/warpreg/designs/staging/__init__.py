"""Designs that stage operands: values are near the units while code needs them, and in memory otherwise."""
