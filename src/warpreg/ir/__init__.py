"""The intermediate representation: types, operands, instructions, basic blocks, kernels and modules."""
