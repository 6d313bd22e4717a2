"""Instruction scheduling inside blocks.

Read `list_scheduler`; `dependence_graph` has the order constraints, `deadlines` the latest issue cycles.
"""
