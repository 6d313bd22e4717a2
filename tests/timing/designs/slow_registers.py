"""Registers of two speeds: after a slow access of memory a warp's next two results go to slow ones.

A slow register takes two cycles to read and to write; nobody waits longer for a warp that waits for memory anyway.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", events=("slow results",), source="assumed: a miniature")
SLOW_RESULTS = 0


@dataclass(frozen=True)
class Parameters:
    threshold: int = w.parameter(10, unit="cycles", low=0, high=100_000, source="assumed: a miniature")


class State(NamedTuple):
    threshold: int
    left: NDArray[np.int64]  # [warp] how many results to come go to slow registers
    is_slow: NDArray[np.uint8]  # [warp, register]


def init(parameters: Parameters, program: w.Program) -> State:
    is_slow = np.zeros(program.register_count, np.uint8)
    return State(parameters.threshold, w.per_warp(np.int64(0)), w.per_warp(is_slow))


@w.hook
def memory_returned(state: State, program: w.Program, warp: int, pc: int, cycles: int, plan: w.Plan) -> None:
    if cycles > state.threshold:
        state.left[warp] = 2


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        w.read(plan, operand, w.MRF, cycles=1 + state.is_slow[warp, program.source[operand]])


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        slow = 1 if state.left[warp] > 0 else 0
        state.left[warp] -= slow
        state.is_slow[warp, program.result[operand]] = slow
        w.count(plan, SLOW_RESULTS, slow)
        w.write(plan, operand, w.MRF, cycles=1 + slow)
