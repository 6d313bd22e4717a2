"""Does a little of all that a design may do, by a hash of where it is asked.

Made to compare two cores: every hook is here, and each leaves something that can be counted.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    GO,
    MRF,
    READ,
    WRITE,
    Banks,
    Collectors,
    Declaration,
    Path,
    Plan,
    Program,
    Table,
    after,
    count,
    extra,
    hook,
    index_in_block,
    level,
    lookup,
    move,
    now,
    nowhere,
    parameter,
    per_pair,
    per_scheduler,
    per_sm,
    per_warp,
    read,
    scheduler_of,
    sm_of,
    stay,
    thread_block,
    transfer,
    update,
    wake,
    write,
)

DESIGN = Declaration(
    slot="levels",
    levels=("MRF", "TOP"),
    order="sm",
    events=(
        "starts",
        "ends",
        "blocks",
        "entered",
        "left",
        "found",
        "heads",
        "sent",
        "waited",
        "clock",
        "issued",
        "collected",
        "produced",
        "stalled",
        "resumed",
        "buffered",
        "transferred",
    ),
    resources=("passes", "active"),
    source="assumed: a test",
)
TOP = 1
STARTS, ENDS, BLOCKS, ENTERED, LEFT, FOUND, HEADS, SENT, WAITED, CLOCK, ISSUED, COLLECTED, PRODUCED = range(13)
STALLED, RESUMED, BUFFERED, TRANSFERRED = 13, 14, 15, 16
PASSES, ACTIVE = 0, 1
GATE = 7


@dataclass(frozen=True)
class Parameters:
    """What one may choose."""

    seed: int = parameter(0, low=0, high=1000, source="assumed: a test")
    passes: int = parameter(2, low=1, high=64, source="assumed: a test")


class State(NamedTuple):
    """``passes`` free and ``active`` warps of an SM; ``pairs``, ``issued`` and ``own`` count issues of a pair
    of warps, of a scheduler and of a warp.
    """

    seed: int
    passes: NDArray[np.int64]
    active: NDArray[np.int64]
    pairs: NDArray[np.int64]
    issued: NDArray[np.int64]
    own: NDArray[np.int64]


def init(parameters: Parameters, program: Program) -> State:
    """All passes are free."""
    return State(
        parameters.seed,
        per_sm(np.int64(parameters.passes)),
        per_sm(np.int64(0)),
        per_pair(np.int64(0)),
        per_scheduler(np.int64(0)),
        per_warp(np.int64(0)),
    )


def banks(parameters: Parameters) -> Banks:
    """Of every kind."""
    kind = parameters.seed
    return Banks(2 << kind % 3, 1 + kind // 3 % 3, kind % 2 == 0, kind // 2 % 2 == 0)


def collectors(parameters: Parameters) -> Collectors | None:
    """Collectors of warps in two of three."""
    kind = parameters.seed
    if kind % 3 == 0:
        return None
    order = ("oldest", "round-robin")[kind // 4 % 2]
    return Collectors(True, None, 1 + kind % 3, 1 + kind % 3 * (kind // 2 % 2), (None, 1, 2)[kind // 3 % 3], order)  # type: ignore[arg-type]


def hardware(parameters: Parameters) -> tuple[Table, ...]:
    """Two tables."""
    kind = parameters.seed
    return (Table("first", 64, 14, 1 + kind % 2, 1 + kind // 2 % 2, kind % 4), Table("second", 4, 8))


def paths(parameters: Parameters) -> tuple[Path, ...]:
    """Up and down, of every kind."""
    kind = parameters.seed
    up = Path("MRF", "TOP", (1, 2, 0.5, 0.25)[kind % 4], 1 + kind % 7, ("SM", "scheduler")[kind // 2 % 2])
    return (up, Path("TOP", "MRF", 1 + kind % 2, 1 + kind // 3 % 5, ("scheduler", "SM")[kind % 2]))


def some_slices(state: State, one: int, other: int) -> int:
    """A mask of slices that every bank has."""
    return 1 + mix(state.seed, one, other, 3)


def mix(seed: int, one: int, other: int, limit: int) -> int:
    """Some number below ``limit``."""
    return (seed * 7919 + one * 104729 + other * 1299709 + 12345) % 1000003 // 7 % limit


def needs_pass(state: State, program: Program, pc: int) -> bool:
    """Whether an instruction may issue with a pass only; it has a result then, with which the pass comes back."""
    return program.result_start[pc + 1] > program.result_start[pc] and mix(state.seed, pc, 3, 3) == 0


def beside(program: Program, warp: int) -> int:
    """The first warp of the pair; where that is one of another SM, the warp itself."""
    first = warp // 2 * 2
    return first if sm_of(program, first) == sm_of(program, warp) else warp


def where(program: Program, sm: int) -> int:
    """Which thread blocks are where."""
    found = 0
    for slot in range(program.slots):
        warp = sm * program.slots + slot
        found += (slot + 1) * (thread_block(program, warp) + 2) * (index_in_block(program, warp) + 3)
    return found


@hook
def block_start(state: State, program: Program, sm: int, plan: Plan) -> None:
    count(plan, BLOCKS, sm + 1 + where(program, sm))


@hook
def block_end(state: State, program: Program, sm: int, plan: Plan) -> None:
    count(plan, BLOCKS, 100 * now(plan) + where(program, sm))


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    state.own[warp] += 5 + thread_block(program, beside(program, warp)) + index_in_block(program, warp)
    count(plan, STARTS, 1 + now(plan) * state.own[warp])
    wake(plan, GATE)
    if mix(state.seed, warp, state.own[warp], 3) == 0:
        move(plan, TOP, MRF, 1)
    elif mix(state.seed, warp, state.own[warp], 3) == 1:
        lookup(plan, 1, warp)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    count(plan, STARTS, 1 + thread_block(program, warp) * 3 + index_in_block(program, beside(program, warp)))
    count(plan, ENDS, state.own[warp] * now(plan))
    move(plan, TOP, MRF, 1)
    transfer(plan, 1, 2)


@hook
def activated(state: State, program: Program, warp: int, plan: Plan) -> None:
    count(plan, ENTERED, now(plan))
    state.active[sm_of(program, warp)] += 1
    level(plan, ACTIVE, state.active[sm_of(program, warp)])


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    count(plan, LEFT, now(plan))
    state.active[sm_of(program, warp)] -= 1
    level(plan, ACTIVE, state.active[sm_of(program, warp)])
    if mix(state.seed, warp, now(plan), 3) == 0:
        move(plan, TOP, MRF, 2)
    elif mix(state.seed, warp, now(plan), 3) == 1:
        transfer(plan, 1, 4)
        transfer(plan, 0, 4, warp=beside(program, warp))


@hook
def transferred(state: State, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
    state.own[warp] += path + 1
    count(plan, TRANSFERRED, (path + 1) * now(plan) + register + warp)
    choice = mix(state.seed, register, now(plan), 6)
    if choice == 0:
        wake(plan, GATE)
    elif choice == 1:
        extra(plan, MRF, READ, 1)
        transfer(plan, 1 - path, register + 1 & 7, bank=path)
    elif choice == 2:
        move(plan, TOP, MRF, register)


@hook
def priority(state: State, program: Program, warp: int, pc: int) -> int:
    return mix(state.seed, warp, pc, 3)


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if not needs_pass(state, program, pc):
        return GO
    sm = sm_of(program, warp)
    if state.passes[sm] == 0:
        choice = mix(state.seed, pc, now(plan), 3)
        if choice == 1:
            return stay(plan, GATE)
        return after(plan, 1 + mix(state.seed, pc, warp, 5)) if choice == 0 else GATE
    state.passes[sm] -= 1
    level(plan, PASSES, state.passes[sm])
    return GO


@hook
def stalled(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    count(plan, STALLED, (pc + 1) * now(plan) + (plan.base & 127) + warp)
    if mix(state.seed, pc, now(plan), 4) == 0:
        extra(plan, MRF, READ, 5)
        wake(plan, GATE)


@hook
def resumed(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    count(plan, RESUMED, (pc + 1) * now(plan) + (plan.mask & 7) + warp)
    if mix(state.seed, pc, now(plan), 4) == 1:
        move(plan, TOP, MRF, 3)


@hook
def owner(state: State, program: Program, warp: int, token: int) -> int:
    return -1


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    state.pairs[warp // 2] += 1
    state.issued[scheduler_of(program, warp)] += 1
    state.own[warp] += 1
    count(plan, CLOCK, now(plan) * (state.pairs[warp // 2] + state.issued[scheduler_of(program, warp)]))
    first = program.source_start[pc]
    for operand in range(first, program.source_start[pc + 1]):
        choice = mix(state.seed, operand, state.own[warp], 6)
        slow = mix(state.seed, operand, 11, 3)
        if choice == 0:
            read(plan, operand, TOP, cycles=slow)
        elif choice == 1:
            read(plan, operand, MRF, bank=slow, cycles=1 + slow, slices=some_slices(state, operand, 17))
        elif choice == 2 and operand > first:
            read(plan, operand, MRF, merged=first, slices=some_slices(state, operand, 19))
        elif choice == 3:
            read(plan, operand, MRF, slices=some_slices(state, operand, 23))
        elif choice == 4:
            read(plan, operand, MRF, bank=1, slices=some_slices(state, operand, 29), row=slow)
        else:
            nowhere(plan, operand)
        if slow == 0:
            lookup(plan, operand % 2, program.source[operand])
    if mix(state.seed, pc, state.own[warp], 4) == 0:
        extra(plan, MRF, READ, 3, slices=some_slices(state, pc, 31))


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if mix(state.seed, operand, 17, 2) == 0:
            place(state, operand, state.own[warp], plan)
    if mix(state.seed, pc, state.own[warp], 5) == 0:
        extra(plan, MRF, WRITE, 4)
        transfer(plan, 0, 6)
        transfer(plan, 0, 7)
        lookup(plan, 0, pc)


def place(state: State, operand: int, turn: int, plan: Plan) -> None:
    """Plan a result somewhere, or nowhere."""
    choice = mix(state.seed, operand, turn, 5)
    slow = mix(state.seed, operand, 13, 3)
    if choice == 0:
        write(plan, operand, TOP, cycles=1 + slow)
    elif choice == 1:
        write(plan, operand, MRF, bank=slow, cycles=1 + slow, slices=some_slices(state, operand, 37))
    elif choice == 2:
        write(plan, operand, MRF)
        write(plan, operand, TOP, cycles=1 + slow)
    elif choice == 3:
        write(plan, operand, MRF)
    else:
        nowhere(plan, operand)


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    count(plan, ISSUED, (pc + 1) * now(plan) + (plan.mask & 7) + (plan.base & 127))
    if mix(state.seed, pc, 41, 4) == 0:
        lookup(plan, 1, pc)


@hook
def collected(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    state.own[warp] += operand
    count(plan, COLLECTED, (operand + 1) * now(plan) * (1 + state.own[warp] % 5))
    if mix(state.seed, operand, state.own[warp], 5) == 0:
        extra(plan, MRF, READ, 5)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Plans the results that ``plan_write`` leaves."""
    count(plan, PRODUCED, (pc + 1) * now(plan) * (1 + state.own[warp] % 3) + (plan.base & 127))
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if mix(state.seed, operand, 17, 2) == 1:
            place(state, operand, now(plan), plan)


@hook
def load_lookup(
    state: State, program: Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: Plan
) -> int:
    found = mix(state.seed, pc, base + (stride & 7), 3)
    count(plan, FOUND, found)
    return 0 if found else 1 + mix(state.seed, pc, base, 9)


@hook
def written_back(
    state: State, program: Program, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    count(plan, HEADS, (next_pc + 2) * now(plan) + base + (stride & 7) + (mask & 1))
    update(plan, pc % 2, pc)
    if mix(state.seed, pc, now(plan), 3) == 0:
        transfer(plan, 1, 3)
    if needs_pass(state, program, pc):
        sm = sm_of(program, warp)
        state.passes[sm] += 1
        level(plan, PASSES, state.passes[sm])
        wake(plan, GATE)


@hook
def buffered(
    state: State, program: Program, warp: int, pc: int, ahead: int, base: int, stride: int, mask: int, plan: Plan
) -> None:
    count(plan, BUFFERED, (pc + 1 + 3 * ahead) * now(plan) + base + (stride & 7) + (mask & 1) + (plan.mask & 3))
    if mix(state.seed, warp, pc + ahead, 4) == 0:
        lookup(plan, 1, pc)


@hook
def memory_issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    count(plan, SENT, pc + now(plan))


@hook
def memory_returned(state: State, program: Program, warp: int, pc: int, cycles: int, plan: Plan) -> None:
    count(plan, WAITED, pc + cycles)
