"""The order of instructions inside a block.

Read `list_scheduler`; `dependence_graph` says what must stay in order, `latency_model` and `deadlines` what is urgent.
"""
