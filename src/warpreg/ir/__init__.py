"""What a kernel is: types, operands, instructions, basic blocks, kernels and modules.  Imports nothing of ours."""
