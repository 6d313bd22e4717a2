"""Every warp has its physical registers ``step`` banks further than the warp before; needs ``renaming``."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", order="sm", uses=("renaming",), source="assumed: a miniature")


@dataclass(frozen=True)
class Parameters:
    step: int = w.parameter(1, low=0, high=64, source="assumed: a miniature")


class State(NamedTuple):
    step: int
    renaming: Any  # the state of that design


def init(parameters: Parameters, program: w.Program) -> State:
    return State(parameters.step, None)


def bank_of(state: State, warp: int, register: int) -> int:
    """The bank of a register, UNSET if it has no physical one."""
    physical = state.renaming.physical[warp, register]
    return (physical + warp * state.step) % state.renaming.banks if physical >= 0 else w.UNSET


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, w.MRF, bank=bank_of(state, warp, program.source[operand]))


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        w.write(plan, operand, w.MRF, bank=bank_of(state, warp, program.result[operand]))
