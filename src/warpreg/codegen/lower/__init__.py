"""A PTX function as a kernel of basic blocks.

Read `build`, which calls the others in this order: `flatten` (`scopes`, `functions`), `normalize_legacy`, `clusters`,
`operand_forms`, `address_layout`, `recursive_calls`, `parameter_addresses`, `split_blocks`, `if_conversion`.
"""
