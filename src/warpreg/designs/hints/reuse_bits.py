"""Which sources the operand reuse cache keeps: the flags of machine code, or those of a greedy pass."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.hints.program_table import classify
from warpreg.designs.interface.program import Program, source_operands
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Unit

FIXED = frozenset({Unit.ALU, Unit.DP, Unit.TENSOR})
"""Units whose instructions use the cache (artifact of Huerta et al., MICRO 2025: those of fixed latency)."""


def uses_cache(kernel: Kernel) -> NDArray[np.uint8]:
    """By pc: whether an instruction has a fixed latency; one whose result has a dependence counter has not."""
    return np.array([_is_fixed(one) for one in kernel.instructions()], np.uint8)


def _is_fixed(instruction: Instruction) -> bool:
    control = instruction.control
    return classify(instruction)[0] in FIXED and (control is None or control.write is None)


def code_bits(program: Program, kernel: Kernel) -> NDArray[np.uint8]:
    """By source operand: the reuse flag of the code."""
    bits = np.zeros_like(program.last_read)
    for pc, instruction in enumerate(kernel.instructions()):
        for operand in source_operands(program, pc):
            bits[operand] = program.source_slot[operand] in instruction.reuse
    return bits


def has_control_codes(kernel: Kernel) -> bool:
    """Whether a compiler has decided on the flags."""
    return all(one.control is not None for one in kernel.instructions())


def greedy_bits(program: Program, kernel: Kernel, banks: int) -> NDArray[np.uint8]:
    """By source operand: whether the next read of its bank and position in the basic block names the same register,
    which the block has not written in between.
    """
    bits = np.zeros_like(program.last_read)
    fixed = uses_cache(kernel)
    first = [*program.first_pc.tolist(), len(program.unit)]
    for begin, end in pairwise(first):
        last: dict[tuple[int, int], int] = {}
        for pc in range(begin, end):
            if fixed[pc]:
                _read(program, pc, banks, last, bits)
            results = program.result[program.result_start[pc] : program.result_start[pc + 1]]
            for place, operand in list(last.items()):
                if program.source[operand] in results:
                    del last[place]
    return bits


def _read(program: Program, pc: int, banks: int, last: dict[tuple[int, int], int], bits: NDArray[np.uint8]) -> None:
    for operand in source_operands(program, pc):
        register = int(program.source[operand])
        place = register % banks, int(program.source_slot[operand])
        before = last.get(place)
        if before is not None and program.source[before] == register:
            bits[before] = 1
        last[place] = operand
