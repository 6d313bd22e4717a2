"""A register cache that keeps what the compiler expects to be read again soon.

After Memento (Shoushtary et al., "Memento: An Adaptive, Compiler-Assisted Register File Cache for GPUs", ISCA 2024):
the compiler marks operands whose value is read again within a few instructions as *near*, and the cache replaces *far*
values first.  Every result is written to the main register file too, so nothing is ever written back.  Assumed: each
warp has a cache of its own; distances are counted in instructions inside a basic block, where the paper profiles; a
value that is not read again in its block is far.  The paper's issue policy is not here.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="levels", levels=("MRF", "RFC"), events=("fills",), source="Shoushtary et al., ISCA 2024: Memento"
)
RFC, FILLS, EMPTY = 1, 0, -1


@dataclass(frozen=True)
class Parameters:
    entries: int = w.parameter(6, unit="entries per thread", low=0, high=16, off=0, source="assumed: some")
    near: int = w.parameter(12, unit="instructions", low=1, high=1024, source="assumed: a distance that counts as near")


class Hints(NamedTuple):
    source: NDArray[np.uint8]  # [source operand] 1: read again soon
    result: NDArray[np.uint8]  # [result operand] 1: read soon
    partial: NDArray[np.uint8]  # [result operand] 1: a lane that it does not write may need the old value


class State(NamedTuple):
    entries: int
    held: NDArray[np.int32]  # [warp, entry] register, or EMPTY
    near: NDArray[np.uint8]  # [warp, entry] 1: expected to be read soon
    used: NDArray[np.int64]  # [warp, entry] when it was used last
    clock: NDArray[np.int64]  # [warp] uses so far


def init(parameters: Parameters, program: w.Program) -> State:
    entries = parameters.entries
    return State(
        entries,
        w.per_warp(np.full(entries, EMPTY, np.int32)),
        w.per_warp(np.zeros(entries, np.uint8)),
        w.per_warp(np.zeros(entries, np.int64)),
        w.per_warp(np.int64(0)),
    )


def hints(program: w.Program, parameters: Parameters, analysis: w.Analysis) -> Hints:
    source, result = np.zeros(program.source.size, np.uint8), np.zeros(program.result.size, np.uint8)
    pcs = np.repeat(np.arange(program.guarded.size), np.diff(program.result_start))
    partial = (program.guarded[pcs] != 0) | analysis.waiting[analysis.block_of[pcs], program.result]
    for first, end in pairwise(program.first_pc.tolist()):
        next_read: dict[int, int] = {}
        for pc in reversed(range(first, end)):
            for operand in w.result_operands(program, pc):
                distance = next_read.pop(int(program.result[operand]), end + parameters.near) - pc
                result[operand] = distance <= parameters.near
            for operand in w.source_operands(program, pc):
                distance = next_read.get(int(program.source[operand]), end + parameters.near) - pc
                source[operand] = distance <= parameters.near
            for operand in w.source_operands(program, pc):
                next_read[int(program.source[operand])] = pc
    return Hints(source, result, partial.astype(np.uint8))


def structures(parameters: Parameters) -> tuple[w.Structure, ...]:
    return w.Structure("MRF"), w.Structure("RFC", entries=parameters.entries)


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        register, near = program.source[operand], program.hints.source[operand]
        entry = find(state, warp, register)
        if entry != EMPTY:
            w.read(plan, operand, RFC)
            use(state, warp, entry, register, near)
        else:
            w.read(plan, operand, w.MRF)
            if near and state.entries > 0:
                use(state, warp, victim(state, warp), register, near)
                w.extra(plan, RFC, w.WRITE, register)
                w.count(plan, FILLS)


@w.hook
def plan_write(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        register, near = program.result[operand], program.hints.result[operand]
        w.write(plan, operand, w.MRF)
        entry = find(state, warp, register)
        if entry == EMPTY and near and state.entries > 0 and not program.hints.partial[operand]:
            entry = victim(state, warp)
        if entry != EMPTY:
            w.write(plan, operand, RFC)
            use(state, warp, entry, register, near)


def find(state: State, warp: int, register: int) -> int:
    for entry in range(state.entries):
        if state.held[warp, entry] == register:
            return entry
    return EMPTY


def use(state: State, warp: int, entry: int, register: int, near: int) -> None:
    state.clock[warp] += 1
    state.held[warp, entry] = register
    state.near[warp, entry] = near
    state.used[warp, entry] = state.clock[warp]


def victim(state: State, warp: int) -> int:
    """The far value that was used least recently; without one, of all values."""
    best = 0
    for entry in range(1, state.entries):
        is_far = state.near[warp, entry] < state.near[warp, best]
        is_older = (
            state.near[warp, entry] == state.near[warp, best] and state.used[warp, entry] < state.used[warp, best]
        )
        if is_far or is_older:
            best = entry
    return best
