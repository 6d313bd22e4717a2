"""A register lies in the left or the right half of its row; sources of different halves share a bank access."""

from dataclasses import dataclass
from typing import NamedTuple

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", source="assumed: a miniature")
LEFT, RIGHT = 0b1100, 0b0011


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    rows: int = w.parameter(2, low=1, high=4, source="assumed: a miniature")
    port: bool = w.parameter(True, source="assumed: a miniature")
    one_row: bool = w.parameter(False, source="assumed: a miniature")
    across: bool = w.parameter(False, source="assumed: a miniature")


def banks(parameters: Parameters, machine: object) -> w.Banks:
    return w.Banks(4, parameters.rows, parameters.port, parameters.across)


class State(NamedTuple):
    row: int  # of all registers, UNSET: each has its own


def init(parameters: Parameters, program: w.Program) -> State:
    return State(0 if parameters.one_row else w.UNSET)


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        is_right = program.source[operand] // 4 % 2
        w.read(plan, operand, w.MRF, slices=RIGHT if is_right else LEFT, row=state.row)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        w.write(plan, operand, w.MRF, slices=RIGHT)
