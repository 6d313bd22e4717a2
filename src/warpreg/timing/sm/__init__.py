"""One SM, a phase of a cycle a file.

Read `cycle` (the loop), then the phases in their order: `writeback`, `operand_collector`, `wakeup`, `issue`; then the
parts that they use: operand paths, function units, the load/store unit, the placing of thread blocks.
"""
