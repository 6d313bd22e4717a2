"""The naive reference: reads PTX text and executes it thread by thread with Python integers and exact rationals.

It shares nothing with the package under test: its own parser, arithmetic and memory.
"""
