"""Registers shared by two warps of different thread blocks, owner warps first (OWF; thesis of 2021, §4.2, §4.4.3).

The registers of a warp from a threshold on are shared with one warp of another thread block.  The first of both warps
to touch one takes a lock, and has the shared registers until it ends; the other waits at its first such instruction.
The thesis compares with this design of others (Jatala et al., HPDC 2016) and describes the lock and the three checks of
an access: is the warp shared, is the register shared, is the lock taken.

*Sharing.*  Registers below ``ceil(threshold * R)`` are a warp's own; ``R`` are those that it would allocate alone.  As
many thread blocks as fit unshared, ``N``, have a section of shared registers each.  What they leave holds the own
registers of further thread blocks, each of which shares the section of one of the first ``N``; so ``N`` thread blocks
can always go on, as without sharing.  Warps with the same index in two such thread blocks are a pair.  A thread block
takes the lowest free place of its SM: first those that share with nobody, then one of each pair, then the others.

*Locks.*  A lock until its warp ends stops the thread block of the other warp at its next barrier.  If warps of both
thread blocks had locks, each thread block could so wait for the other.  A lock therefore makes its whole thread block
the owner of all sections that the two share: warps of the other one wait for the warp of the owner with their index to
end, whether or not it has locked.  When the owner leaves, the other thread block becomes the owner.

*No deadlock.*  (1) Where a thread block owns, a warp of the other one holds a lock only if the owner's warp with its
index has ended: it got the lock after that, or its thread block would own.  A thread block that comes later holds
none.  (2) So no warp of an owner is ever refused.  Its barriers and fences wait for warps of its own thread block only,
and memory answers, so an owner ends.  (3) A refused warp waits for the owner's warp with its index, whose end wakes it.
Then it locks: another thread block comes to that place only when the owner has left, and its own one owns from then on.
(4) If no thread block owns, nobody is refused.

*Order of issue.*  Warps of owners first, then warps that share with nobody or whose pair has no owner, then the others;
among equals the scheduler's order.

*Storage.*  The thesis prints none; this is what the checks need.  Each warp slot has a bit whether its warp shares, and
the slot of the other warp of its pair.  Each pair has a bit whether its lock is taken, and one which thread block owns.
For 48 warps these are 48 (1 + 6) + 24 * 2 = 384 bits.  Their writes are counted; reads are not, as in ``regmutex``:
they belong to the state of a warp that the scheduler sees.  A comparison with the threshold has no storage.

Where the text is silent: places, owners of whole thread blocks, the threshold and the storage are ours.  The banks are
those of the plain register file: a shared register is in the bank that the machine gives it for the warp that has it.

Limits: thread blocks that wait for each other by memory (grid barriers) are not covered.  The timing core follows
recorded paths, where such waits have ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import (
    GO,
    Declaration,
    Launch,
    Logic,
    Plan,
    Program,
    Residency,
    Room,
    Table,
    count,
    hook,
    index_in_block,
    parameter,
    per_sm,
    per_warp,
    sm_of,
    update,
    wake,
)
from warpreg.designs.interface.residency import room as room_for
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.thread_blocks.places import NOBODY, arrive, depart, empty_places
from warpreg.gpu.machine import Machine

LOCKED, REFUSED, CHECKS = range(3)
DESIGN = Declaration(
    slot=("mapping", "policy"),
    order="sm",
    events=("locks", "refused", "checks"),
    source="regmutex §4.2, §4.4.3",
)
OWNER, ALONE, OTHER = 2, 1, 0
"""Priorities."""
SHARING, LOCKS = range(2)
"""Tables: by warp slot whether its warp shares, and with whom; by pair its lock and its owner."""
SLOTS = 48
"""Warp slots of the paper's machine."""


@dataclass(frozen=True)
class Parameters:
    """How much of a warp's registers is its own."""

    threshold: float = parameter(
        0.1,
        unit="of a warp's registers",
        low=0.0,
        high=1.0,
        off=1.0,
        source="assumed: the thesis states none; 1 shares nothing",
    )


@dataclass(frozen=True, slots=True)
class Sharing(Residency):
    """A residency with ``sections`` of shared registers, each of as many as a thread block shares."""

    sections: int = 0


class State(NamedTuple):
    """Places of warps, their pairs, and who owns what these share."""

    alone: int
    """Places that share with nobody, the first ones."""
    pairs: int
    """Places that follow them, and as many after these that share with them."""
    accesses: NDArray[np.int64]
    """By pc: accesses of registers."""
    shared: NDArray[np.int64]
    """By pc: accesses of shared registers."""
    place: NDArray[np.int64]
    """By warp."""
    locked: NDArray[np.int64]
    """By warp: whether it has locked its pair."""
    at: NDArray[np.int64]
    """By SM [place, index]: the warps that run."""
    block: NDArray[np.int64]
    """As in `places`."""
    left: NDArray[np.int64]
    """As in `places`."""
    owner: NDArray[np.int64]
    """By SM [pair]: a place."""


def residency(parameters: Parameters, program: Program, machine: Machine, launch: Launch) -> Residency:
    """Own registers by the threshold, and a section for each thread block that would fit unshared."""
    plain = unshared(machine, program.register_count)
    own = max(1, math.ceil(parameters.threshold * plain.registers))
    alone = room_for(machine, plain, launch, program.register_count)
    if alone.limiter != "registers" or alone.blocks == 0 or own >= plain.registers:
        return plain
    sections = alone.warps * (plain.registers - own)
    twice = machine.warp_registers - 2 * alone.warps * own
    shared = Sharing(own, pool=max(sections, twice), sections=alone.blocks)
    return shared if room_for(machine, shared, launch, program.register_count).blocks > alone.blocks else plain


def init(parameters: Parameters, program: Program, room: Room | None = None) -> State:
    """No thread block has come.  Without a machine, nothing is shared."""
    held = room.residency if room is not None else None
    sections = held.sections if isinstance(held, Sharing) else 0
    places = room.blocks if room is not None else 1
    pairs = places - sections if sections else 0
    if pairs > sections:
        raise DesignError(f"owf: expects at most {2 * sections} thread blocks in {sections} sections, found {places}")
    first = held.registers if held is not None and pairs else program.register_count
    block_warps = room.warps // room.blocks if room is not None else 1
    return State(
        alone=places - 2 * pairs,
        pairs=pairs,
        accesses=accesses_from(program, 0),
        shared=accesses_from(program, first),
        **empty_places(places),
        locked=per_warp(np.int64(0)),
        at=per_sm(np.full((places, block_warps), NOBODY, np.int64)),
        owner=per_sm(np.full(max(1, pairs), NOBODY, np.int64)),
    )


def hardware(parameters: Parameters, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
    """Partners of warps, and locks of pairs."""
    if parameters.threshold == 1.0:
        return ()
    slots = machine.sm.warps if machine else SLOTS
    partner_bits = (slots - 1).bit_length()
    return (
        Table("shared warps", slots, 1 + partner_bits, ports=2, stages=0),
        Table("locks of pairs", max(1, slots // 2), 2, ports=2, stages=0),
    )


def accesses_from(program: Program, first: int) -> NDArray[np.int64]:
    """By pc: how often it names a register from ``first`` on."""
    named = np.zeros(program.unit.size, np.int64)
    for start, registers in ((program.source_start, program.source), (program.result_start, program.result)):
        pcs = np.repeat(np.arange(program.unit.size), np.diff(start))
        np.add.at(named, pcs[registers >= first], 1)
    return named


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.pairs == 0:
        return
    place = arrive(state, program, plan.sm, warp)
    update(plan, SHARING, warp % program.slots)
    state.at[plan.sm, place, index_in_block(program, warp)] = warp


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if state.shared[pc] == 0 or state.locked[warp] != 0 or state.place[warp] < state.alone:
        return GO
    sm, place, index = plan.sm, state.place[warp], index_in_block(program, warp)
    pair, other = pair_of_place(state, place), partner(state, place)
    if state.owner[sm, pair] == other and state.at[sm, other, index] != NOBODY:
        count(plan, REFUSED)
        return token_of(state, pair, index)
    if state.owner[sm, pair] == NOBODY:
        state.owner[sm, pair] = place
    state.locked[warp] = 1
    count(plan, LOCKED)
    update(plan, LOCKS, token_of(state, pair, index))
    return GO


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    checks = state.accesses[pc]
    if state.pairs != 0 and state.place[warp] >= state.alone:
        checks += state.accesses[pc] + state.shared[pc]
    count(plan, CHECKS, checks)


@hook
def priority(state: State, program: Program, warp: int, pc: int) -> int:
    if state.pairs == 0 or state.place[warp] < state.alone:
        return ALONE
    owner = state.owner[sm_of(program, warp), pair_of_place(state, state.place[warp])]
    if owner == NOBODY:
        return ALONE
    return OWNER if owner == state.place[warp] else OTHER


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.pairs == 0:
        return
    place, index = state.place[warp], index_in_block(program, warp)
    state.at[plan.sm, place, index] = NOBODY
    is_last = depart(state, plan.sm, warp)
    if place >= state.alone:
        token = token_of(state, pair_of_place(state, place), index)
        if state.locked[warp] != 0:
            update(plan, LOCKS, token)
        wake(plan, token)
        if is_last:
            pass_on(state, plan.sm, place)


@hook
def owner(state: State, program: Program, warp: int, token: int) -> int:
    sm, pair = sm_of(program, warp), token // state.at.shape[2]
    place = state.owner[sm, pair]
    return int(state.at[sm, place, token % state.at.shape[2]]) if place != NOBODY else NOBODY


def pass_on(state: State, sm: int, place: int) -> None:
    """A thread block has ended: what it owned belongs to the other one of its pair, if there is one."""
    pair, other = pair_of_place(state, place), partner(state, place)
    if state.owner[sm, pair] == place:
        state.owner[sm, pair] = other if state.left[sm, other] != 0 else NOBODY


def pair_of_place(state: State, place: int) -> int:
    """The pair of a place that shares."""
    return (place - state.alone) % state.pairs


def partner(state: State, place: int) -> int:
    """The place that it shares with."""
    return place + state.pairs if place < state.alone + state.pairs else place - state.pairs


def token_of(state: State, pair: int, index: int) -> int:
    """What a warp waits for that finds its section with the other thread block."""
    return int(pair * state.at.shape[2] + index)
