"""Machine code of NVIDIA's GPUs (SASS, sm_80 and sm_90): from a cubin and its listing to kernels of the IR.

Read in this order: `cubin` (what the file says), `listing` (text of ``nvdisasm`` and ``cuobjdump``), `operands` (text
of an operand), `canonical` (its slot), `flow` (basic blocks), `lift` (kernels).
"""
