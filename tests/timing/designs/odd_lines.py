"""Counts accesses to lines with an odd number, so a launch on other lines has another result."""

from typing import NamedTuple

from warpreg.designs.interface import Declaration, Plan, Program, count, hook

DESIGN = Declaration(slot="levels", events=("odd",), source="assumed: a test")
LINE_BYTES = 128


class State(NamedTuple):
    line_bytes: int


def init(parameters: None, program: Program) -> State:
    return State(LINE_BYTES)


@hook
def memory_issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if line_of(state, plan) % 2 == 1:
        count(plan, 0)


def line_of(state: State, plan: Plan) -> int:
    return plan.base // state.line_bytes
