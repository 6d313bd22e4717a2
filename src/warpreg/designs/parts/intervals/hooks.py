"""Hooks of a cache that is filled by interval: prefetch, write back, wait."""

from __future__ import annotations

from typing import Any

from piecewise_numba.bits import lowest_bit
from warpreg.designs.interface import (
    GO,
    Plan,
    Program,
    count,
    hook,
    read,
    result_operands,
    source_operands,
    stay,
    transfer,
    wake,
    write,
)
from warpreg.designs.parts.intervals.bit_sets import WORD, add, has
from warpreg.designs.parts.intervals.state import State

CACHE = 2
FETCH, BACK = 0, 1
"""Paths."""
EVENTS = ("prefetches", "reloads")
PREFETCHES, RELOADS = range(2)


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if program.hints.interval[pc] != state.interval[warp] and state.moving[warp] == 0:
        enter(state, program, warp, pc, plan)
    return GO if state.moving[warp] == 0 else stay(plan, warp)


@hook
def transferred(state: State, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
    state.moving[warp] -= 1
    if state.moving[warp] == 0:
        wake(plan, warp)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if program.hints.interval[pc] != state.interval[warp]:
        enter(state, program, warp, pc, plan)
    state.last[warp] = pc
    for operand in source_operands(program, pc):
        if has(state.cached[warp], program.source[operand]):
            read(plan, operand, CACHE)
        else:
            read(plan, operand, state.main)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        register = program.result[operand]
        if state.away[warp] == 0 and has(state.cached[warp], register):
            add(state.dirty[warp], register)
            write(plan, operand, CACHE)
        else:
            write(plan, operand, state.main)


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    state.away[warp] = 1
    for word in range(state.cached.shape[1]):
        leaving = state.dirty[warp, word]
        if state.liveness and state.last[warp] >= 0:
            leaving &= program.hints.needed_after[state.last[warp], word]
        state.dirty[warp, word] = 0
        move_all(state, warp, BACK, word, leaving, plan)


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.away[warp] == 0:
        return
    state.away[warp] = 0
    count(plan, RELOADS)
    for word in range(state.cached.shape[1]):
        coming = state.cached[warp, word]
        if state.liveness and state.last[warp] >= 0:
            coming &= program.hints.needed_after[state.last[warp], word]
        move_all(state, warp, FETCH, word, coming, plan)


def enter(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """A warp enters the interval of an instruction: what it does not share with the one before leaves or comes."""
    state.interval[warp] = program.hints.interval[pc]
    count(plan, PREFETCHES)
    for word in range(state.cached.shape[1]):
        before, now = state.cached[warp, word], program.hints.working_set[pc, word]
        leaving, coming = before & ~now & state.dirty[warp, word], now & ~before
        if state.liveness:
            leaving &= program.hints.needed_before[pc, word]
            coming &= program.hints.needed_before[pc, word]
        state.cached[warp, word] = now
        state.dirty[warp, word] &= now
        move_all(state, warp, BACK, word, leaving, plan)
        move_all(state, warp, FETCH, word, coming, plan)


def move_all(state: Any, warp: int, path: int, word: int, registers: int, plan: Plan) -> None:
    """Transfer the registers of a word of a set."""
    left = registers
    while left != 0:
        bit = lowest_bit(left)
        left &= left - 1
        state.moving[warp] += 1
        transfer(plan, path, word * WORD + bit)
