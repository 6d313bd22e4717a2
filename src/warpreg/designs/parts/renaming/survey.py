"""What instructions read, counted by width: the opportunity for coalescing (thesis §2.3, Figures 2.2, 2.4)."""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import Plan, Program, count, source_operands
from warpreg.designs.parts.affinity.alignment import LEFT, RIGHT
from warpreg.designs.parts.renaming.events import BYTES, COALESCEABLE, FITTING, MATCHED
from warpreg.designs.parts.renaming.slices import WHOLE, int64, size_of
from warpreg.designs.parts.renaming.table import UNMAPPED, mask_of


def survey_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Count the sources by their bytes, and instructions with two registers that fit one physical register."""
    fits = matched = fitting = False
    for operand in source_operands(program, pc):
        size = bytes_of(int64(state.table[warp, program.source[operand]]))
        count(plan, BYTES + size - 1)
        for other in range(program.source_start[pc], operand):
            if program.source[other] != program.source[operand]:
                is_small = size + bytes_of(int64(state.table[warp, program.source[other]])) <= WHOLE
                is_match = are_matched(program, operand, other)
                fits |= is_small
                matched |= is_match
                fitting |= is_small and is_match
    count(plan, COALESCEABLE, fits)
    count(plan, MATCHED, matched)
    count(plan, FITTING, fitting)


def are_matched(program: Program, operand: int, other: int) -> bool:
    """Whether the compiler has made a pair of two sources, or put them on different sides."""
    one, two = int64(program.hints.read_side[operand]), int64(program.hints.read_side[other])
    return bool(program.hints.read_buddy[operand] == program.source[other] or one + two == RIGHT + LEFT)


def bytes_of(entry: int) -> int:
    """The bytes of a value, four if it has no place."""
    return size_of(mask_of(entry)) if entry != UNMAPPED else WHOLE
