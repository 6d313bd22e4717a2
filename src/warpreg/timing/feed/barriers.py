"""Barriers: number and warp count of an instruction (PTX ISA, section 9.7.13)."""

from __future__ import annotations

from typing import NamedTuple

from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate
from warpreg.sass.isa import opcodes as sass

THREADS_OF_WARP = 32


class Barrier(NamedTuple):
    """``waits``: whether the warp waits; ``number`` of the barrier; ``warps`` that it gathers (0: all that remain)."""

    waits: bool
    number: int = 0
    warps: int = 0


def barrier_of(instruction: Instruction) -> Barrier | None:
    """The barrier of an instruction; None for other instructions and for an arrival without a count.

    A number or count that is in a register, or of a trace, is unknown: such a barrier has no count.
    """
    if sass.is_sass(instruction):
        return Barrier(True) if instruction.traits.awaits_others else None
    modifiers, waits = instruction.modifiers, instruction.traits.awaits_others
    if not instruction.traits.is_barrier or "warp" in modifiers:
        return None
    sources = instruction.sources
    counts = sources[1 : len(sources) - ("red" in modifiers)]
    if counts and isinstance(sources[0], Immediate) and isinstance(counts[0], Immediate):
        return Barrier(waits, sources[0].value, -(-counts[0].value // THREADS_OF_WARP))
    return Barrier(True) if waits else None
