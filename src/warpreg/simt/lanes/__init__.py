"""Instructions on the 32 lanes of a warp, as vectors.

Read `instructions`; `algebra` gives each operation of the opcode table as LLVM vectors, `single_precision`, `float`,
`division` and `nans` what is not one instruction there, `outlined` what is a function of its own.
"""
