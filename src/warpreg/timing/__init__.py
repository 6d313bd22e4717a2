"""Cycles: one streaming multiprocessor, many of them, the memory system: nothing here yet."""
