"""Instructions on the 32 lanes of a warp, as vectors.

Read `instructions`; `algebra` implements each operation of the opcode table on LLVM vectors; `single_precision`,
`float`, `division` and `nans` implement those without a single LLVM instruction; `outlined` makes separate functions.
"""
