"""Fetches the sources of an instruction along a path before it issues, and takes its results back along another."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    GO,
    Declaration,
    Path,
    Plan,
    Program,
    after,
    count,
    hook,
    now,
    parameter,
    per_warp,
    read,
    result_operands,
    source_operands,
    stay,
    transfer,
    wake,
    write,
)

DESIGN = Declaration(
    slot="levels", levels=("MRF", "TOP"), order="warp", events=("fetched", "put back"), source="assumed: a test"
)
TOP = 1
FETCH, BACK = 0, 1
FETCHED, PUT_BACK = 0, 1
NEW, ASKED = 0, 1


@dataclass(frozen=True)
class Parameters:
    """Bandwidth and latency of both paths, and how a warp waits."""

    per_cycle: float = parameter(1.0, low=0.001, high=64, source="assumed: a test")
    delay: int = parameter(3, low=1, high=1000, source="assumed: a test")
    per: str = parameter("SM", choices=("SM", "scheduler"), source="assumed: a test")
    waits: str = parameter("token", choices=("token", "stay", "after"), source="assumed: a test")
    wakes: bool = parameter(True, source="assumed: a test")


class State(NamedTuple):
    """``missing``: registers under way of a warp; ``asked``: whether those of its next instruction were asked for."""

    waits: int
    wakes: bool
    missing: NDArray[np.int64]
    asked: NDArray[np.int64]


def init(parameters: Parameters, program: Program) -> State:
    """Nothing is under way."""
    waits = ("token", "stay", "after").index(parameters.waits)
    return State(waits, parameters.wakes, per_warp(np.int64(0)), per_warp(np.int64(0)))


def paths(parameters: Parameters) -> tuple[Path, ...]:
    """One up and one down."""
    rates = parameters.per_cycle, parameters.delay, parameters.per
    return Path("MRF", "TOP", *rates), Path("TOP", "MRF", *rates)


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if state.asked[warp] == NEW:
        state.asked[warp] = ASKED
        for operand in source_operands(program, pc):
            state.missing[warp] += 1
            transfer(plan, FETCH, program.source[operand])
    if state.missing[warp] == 0:
        return GO
    if state.waits == 2:
        return after(plan, 1)
    return stay(plan, warp) if state.waits == 1 else warp


@hook
def transferred(state: State, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
    count(plan, path, 1000 * register + now(plan))
    state.missing[warp] -= 1
    if state.missing[warp] == 0 and state.wakes:
        wake(plan, warp)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.asked[warp] = NEW
    for operand in source_operands(program, pc):
        read(plan, operand, TOP)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        write(plan, operand, TOP)


@hook
def written_back(
    state: State, program: Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    for operand in result_operands(program, pc):
        state.missing[warp] += 1
        transfer(plan, BACK, program.result[operand])
