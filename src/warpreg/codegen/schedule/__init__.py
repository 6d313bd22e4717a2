"""The order of instructions inside a block.

Read `list_scheduler`; `dependence_graph` says what must stay in order, `deadlines` what is urgent.
"""
