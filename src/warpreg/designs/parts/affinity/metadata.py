"""Metadata instructions in front of a kernel, which carry the compiler's hints to the hardware.

CORF (thesis §2.4.2): an instruction of 64 bits has 10 bits of opcode and four pairs of register numbers of 6 bits each.
Kernels of more than 64 registers need longer numbers ("can also be adapted", §2.4.2); then fewer pairs fit.  CORF++
(§2.5.1): two bits for each register, as many instructions as their 54 bits of payload require.

In code, a metadata instruction is a ``pmevent``, which has no operands in registers and no effect: it is fetched, it
issues like any control instruction, and it counts in the size of the code.
"""

from __future__ import annotations

from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate

INSTRUCTION_BITS = 64
OPCODE_BITS = 10
PAYLOAD_BITS = INSTRUCTION_BITS - OPCODE_BITS
FERMI_NUMBER_BITS = 6
ALIGNMENT_BITS = 2


def pairs_per_instruction(registers: int) -> int:
    """How many pairs one instruction names in a kernel of so many registers: 4 for up to 64 registers."""
    number_bits = max(FERMI_NUMBER_BITS, (max(1, registers) - 1).bit_length())
    return PAYLOAD_BITS // (2 * number_bits)


def pair_instructions(pairs: int, registers: int) -> int:
    """Metadata instructions of a kernel with so many pairs and registers."""
    return -(-pairs // pairs_per_instruction(registers))


def alignment_instructions(registers: int) -> int:
    """Metadata instructions that give each of so many registers its alignment."""
    return -(-registers * ALIGNMENT_BITS // PAYLOAD_BITS)


def with_metadata(kernel: Kernel, count: int) -> Kernel:
    """The kernel with so many metadata instructions at its start; the kernel itself if there are none."""
    if count == 0:
        return kernel
    first = kernel.blocks[0]
    added = Instruction("pmevent", (), (Immediate(0),))
    return with_blocks(kernel, {first.index: [*[added] * count, *first.instructions]})
