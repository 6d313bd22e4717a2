"""The naive reference: reads PTX text and runs it one thread at a time with Python integers and exact rationals.

It shares nothing with the package under test: its own reader, its own arithmetic, its own memory.
"""
