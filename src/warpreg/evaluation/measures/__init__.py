"""Measures that several papers use."""
