"""Rows of the vendor's machine code (SASS, sm_80 and sm_90): operand patterns, meanings and effects.

`pattern` says which operands an instruction has, in which order a listing prints them, and which of them it may omit.
"""
