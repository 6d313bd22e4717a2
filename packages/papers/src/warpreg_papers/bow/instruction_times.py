"""Records, together with any design, how long instructions collect their operands and how long they run (bow §3.3).

An instruction collects from its issue until its last source is read, and runs from its issue until its results leave
their unit or memory.  Resources are numbers of instructions that collect or run, so their sums over cycles are times.
Instructions without results, such as stores, are counted apart, because they have no end here.  Results that the
other design does not plan go to the main register file, as without the recorder.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import MRF, Declaration, Plan, Program, change, hook, per_warp, result_operands, write
from warpreg.designs.parts.hints.program_table import UNITS
from warpreg.ir.opcodes import Unit

RESOURCES = ("collecting", "collecting_memory", "collecting_without_result", "running", "running_memory")
COLLECTING, WITHOUT_RESULT, RUNNING = 0, 2, 3
DESIGN = Declaration(slot="policy", order="warp", resources=RESOURCES, source="bow §3.3, Fig 3.4, Fig 3.12")
MEM, TEX = UNITS.index(Unit.MEM), UNITS.index(Unit.TEX)


@dataclass(frozen=True)
class Parameters:
    """No parameters."""


class State(NamedTuple):
    """Per warp and pc: sources of issued instructions that are not read, and these instructions.

    Those of one pc count as collecting until the sources of all are read.
    """

    unread: NDArray[np.int32]
    waiting: NDArray[np.int32]


def init(parameters: Parameters, program: Program) -> State:
    """Nothing has been issued."""
    return State(per_warp(np.zeros(program.unit.size, np.int32)), per_warp(np.zeros(program.unit.size, np.int32)))


def is_memory(program: Program, pc: int) -> int:
    """1 for an access to memory, else 0."""
    return int(program.unit[pc] == MEM or program.unit[pc] == TEX)


def has_result(program: Program, pc: int) -> bool:
    """Whether an instruction writes a register."""
    return bool(program.result_start[pc + 1] > program.result_start[pc])


def collecting(program: Program, pc: int) -> int:
    """The resource in which an instruction counts while it collects."""
    return COLLECTING + is_memory(program, pc) if has_result(program, pc) else WITHOUT_RESULT


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    sources = program.source_start[pc + 1] - program.source_start[pc]
    if sources > 0:
        state.unread[warp, pc] += sources
        state.waiting[warp, pc] += 1
        change(plan, collecting(program, pc), 1)
    if has_result(program, pc):
        change(plan, RUNNING + is_memory(program, pc), 1)


@hook
def collected(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    state.unread[warp, pc] -= 1
    if state.unread[warp, pc] == 0:
        change(plan, collecting(program, pc), -state.waiting[warp, pc])
        state.waiting[warp, pc] = 0


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    change(plan, RUNNING + is_memory(program, pc), -1)
    for operand in result_operands(program, pc):
        write(plan, operand, MRF)
