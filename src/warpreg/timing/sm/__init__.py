"""One SM: one file per phase of a cycle.

Read `cycle` (the loop), then the phases in order: `writeback`, `operand_collector`, `wakeup`, `issue`,
`block_dispatch`; then their parts: operand paths, function units, the load-store unit, the stall account.
"""
