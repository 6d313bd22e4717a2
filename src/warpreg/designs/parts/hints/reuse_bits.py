"""Which sources the operand reuse cache keeps: the flags of machine code, or those of a greedy pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.passes.reuse import overwritten_sources, reused_sources
from warpreg.designs.interface.program import Program, source_operands
from warpreg.designs.parts.hints.program_table import classify
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Unit
from warpreg.ir.opcodes.sass.pattern import encoded_place

FIXED = frozenset({Unit.ALU, Unit.DP, Unit.TENSOR})
"""Units whose instructions use the cache (artifact of Huerta et al., MICRO 2025: those of fixed latency)."""


def uses_cache(kernel: Kernel) -> NDArray[np.uint8]:
    """By pc: whether an instruction has a fixed latency; one whose result has a dependence counter has not."""
    return np.array([_is_fixed(one) for one in kernel.instructions()], np.uint8)


def _is_fixed(instruction: Instruction) -> bool:
    control = instruction.control
    return classify(instruction)[0] in FIXED and (control is None or control.write is None)


def code_bits(program: Program, kernel: Kernel) -> NDArray[np.uint8]:
    """By source operand: the reuse flag of the code, but for those that another design has made wrong: it has inserted
    a write before the next read.
    """
    kept: list[tuple[int, ...]] = []
    fixed = iter(uses_cache(kernel).tolist())
    for block in kernel.blocks:
        overwritten = overwritten_sources(block.instructions, [next(fixed) for _ in block.instructions])
        kept += [
            tuple(position for position in one.reuse if position not in wrong)
            for one, wrong in zip(block.instructions, overwritten, strict=True)
        ]
    return _by_operand(program, kept)


def encoded_places(program: Program, kernel: Kernel) -> NDArray[np.uint8]:
    """By source operand: its position in the encoding of the instruction."""
    places = np.zeros_like(program.last_read)
    for pc, instruction in enumerate(kernel.instructions()):
        for operand in source_operands(program, pc):
            places[operand] = encoded_place(instruction.opcode, int(program.source_slot[operand]))
    return places


def greedy_bits(program: Program, kernel: Kernel) -> NDArray[np.uint8]:
    """By source operand: whether the greedy pass keeps it."""
    fixed = iter(uses_cache(kernel).tolist())
    kept = (reused_sources(block.instructions, [next(fixed) for _ in block.instructions]) for block in kernel.blocks)
    return _by_operand(program, [positions for block in kept for positions in block])


def _by_operand(program: Program, kept: Sequence[tuple[int, ...]]) -> NDArray[np.uint8]:
    """``kept`` has the positions of each pc."""
    bits = np.zeros_like(program.last_read)
    for pc, positions in enumerate(kept):
        for operand in source_operands(program, pc):
            bits[operand] = program.source_slot[operand] in positions
    return bits
