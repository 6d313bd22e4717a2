"""Registers that several warps or thread blocks use in turn."""
