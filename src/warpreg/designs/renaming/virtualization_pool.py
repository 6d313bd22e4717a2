"""Register virtualization with a shared pool: more warps than the register file could hold (RFV; thesis, §4.2, §4.4.3).

As in ``virtualization``, a register has a physical one only from its first write to its last read.  Here that lets more
warps in: none owns registers, and all of them take physical registers from one pool, so that the register file does not
limit occupancy.  The thesis compares with this design of others (Jeon et al., MICRO 2015) by its occupancy, its cycles
and its storage: a renaming table of 30,240 bits (48 warps of 63 registers, 10 bits each) and 1,024 availability bits.

*Claims.*  An instruction claims a physical register when it issues, for each register that it writes and that has none;
the claim ends when the register is dead and no instruction that writes it is under way.  So no result ever finds the
register file full.  A result is written in place, also where an earlier instruction has not read its source yet, as in
a plain register file; ``virtualization`` keeps the old value then, for which it has room.

*Throttle.*  A thread block may claim at most ``need``: all registers of all its warps.  It lacks ``need`` minus what it
has claimed.  ``guaranteed`` is a number of thread blocks, by default as many as the register file can hold in full, so
at least as many as are resident without this design.  A claim is granted if, with it, so many thread blocks of the SM
(or all of them, if there are fewer) could claim all that they lack: those that lack least lack no more together than is
free.  Otherwise the warp waits for a claim to end.  The thesis states no rule.  With ``guaranteed=1`` this is the
banker's algorithm for equal needs, which lets more thread blocks begin, and may let only one of them go on.

*No deadlock.*  Call the thread blocks that lack least, as many as are guaranteed, safe.  (1) What they lack is always
free.  At first all is free, and so many thread blocks need no more than that (the pool is checked before the run).  A
grant keeps it so by the rule.  The end of a claim adds one to what is free, and no more than one to what the safe ones
lack.  A thread block that comes or goes lacks ``need``, as much as any: beyond the guaranteed number it does not count,
and within it all present are safe and need no more than there is.  (2) A claim of a safe thread block is granted, since
it lowers what is free and what is lacking alike.  So no warp of it waits for the pool, its barriers wait for its own
warps, and it ends.  (3) So all end.  By (2), as many thread blocks as are guaranteed, if there are any left, have no
warp that waits for the pool: by default no fewer than run on the plain register file.

*No livelock.*  Refused warps ask again only when the end of a claim lets one of them have what it asked for, and each
claim belongs to an instruction that has issued.  So a warp is refused at most once for each result of its SM.  Nothing
else lets a refused claim in: a claim of another warp takes as much from what is free as from what its block lacks.

Where the text is silent: claims and the throttle are ours; everything else is as in ``virtualization``.

Limits: the registers of all warps of one thread block must fit the register file, which is checked before the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.bits import lowest_bit
from piecewise_numba.records import by_reference, with_constants
from warpreg.analysis.kernel_analysis import Analysis
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
    Structure,
    Table,
    count,
    hook,
    level,
    parameter,
    per_sm,
    per_warp,
    result_operands,
    wake,
)
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.renaming.events import EVENTS, IN_USE, RESOURCES
from warpreg.designs.parts.renaming.hints import WORD, RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import end_source, issue_sources, rename_result, report_resident
from warpreg.designs.parts.renaming.parts import register_file
from warpreg.designs.parts.renaming.state import FIRST_FIT, renaming
from warpreg.designs.parts.renaming.state import State as Renaming
from warpreg.designs.parts.renaming.table import UNMAPPED, end_warp
from warpreg.designs.parts.thread_blocks.places import NOBODY, arrive, depart, empty_places
from warpreg.gpu.machine import Machine

THROTTLED = len(EVENTS)
CLAIMED = len(RESOURCES)
__all__ = ["compile"]

DESIGN = Declaration(
    slot="mapping",
    source="regmutex §4.2, §4.3.2, §4.4.3",
    order="sm",
    events=(*EVENTS, "throttled"),
    resources=(*RESOURCES, "claimed registers"),
)
NO_CLAIM, HOLDS, WRITES = range(3)
"""A register without claim; with one and its value, or that of pending sources; with one, to be written."""
POOL = 0
"""The token."""
ALL_THAT_FIT = 0
NONE_WAITS = 1 << 20
"""More registers than an instruction writes."""
SWITCHES: Mapping[str, bool] = {
    "enabled": True,
    "packs": False,
    "frees": True,
    "coalesces": False,
    "dual": False,
    "reserves": True,
    "surveys": False,
    "carries": False,
    "warp_banks": False,
}
"""Of `Renaming`.  A result without a place has no old lanes, and any other one stays, so that none are carried."""
fixed = with_constants((*SWITCHES.items(), ("has_sides", False), ("policy", FIRST_FIT)))
"""The same in compiled code: what is off leaves none."""


@dataclass(frozen=True)
class Parameters:
    """The renaming table, and the thread blocks that never wait; the register file is the machine's."""

    table_entries: int = parameter(
        3024, unit="entries", low=1, high=1 << 20, source="regmutex §4.3.2: 30,240 bits; 48 warps of 63 registers"
    )
    guaranteed: int = parameter(
        ALL_THAT_FIT,
        unit="thread blocks",
        low=ALL_THAT_FIT,
        high=1 << 10,
        source="assumed: 0, as many as the register file holds in full; the thesis states no throttle",
    )


class State(NamedTuple):
    """Claims of thread blocks on a pool of registers."""

    renaming: Renaming
    """As of the other designs that rename."""
    need: int
    """Registers that a thread block needs."""
    claim: NDArray[np.uint8]
    """By warp [register]: `NO_CLAIM`, `HOLDS` or `WRITES`."""
    claims: NDArray[np.int64]
    """By SM [place]: of a thread block."""
    pool: NDArray[np.int64]
    """By SM [1]: registers without claim."""
    fewest: NDArray[np.int64]
    """By SM [1]: that a waiting warp wants (`NONE_WAITS`)."""
    waits: NDArray[np.uint8]
    """By SM [place]: 1 if a warp of the thread block may wait."""
    least: NDArray[np.int64]
    """By SM [guaranteed]: room for `sum_of_least`."""
    place: NDArray[np.int64]
    """By warp."""
    block: NDArray[np.int64]
    """As in `places`."""
    left: NDArray[np.int64]
    """As in `places`."""


def residency(
    parameters: Parameters, program: Program, machine: Machine, launch: Launch, analysis: Analysis
) -> Residency:
    """No registers of a warp's own, and a pool for one thread block at least; what is left belongs to the pool too."""
    warps = -(-launch.block_threads // machine.sm.threads_per_warp)
    need = warps * program.register_count
    if need > machine.warp_registers:
        raise DesignError(
            f"virtualization-pool: kernel {analysis.kernel.name}: the pool expects at least {need} warp-registers, all"
            f" of a thread block of {warps} warps, found {machine.warp_registers}"
        )
    return Residency(0, pool=need)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead."""
    return renaming_hints(program, analysis, frees=True)


def init(parameters: Parameters, program: Program, room: Room) -> State:
    """An empty register file.  All places of superseded values are taken, so that results are written in place."""
    table = renaming(program, room.registers, room.banks, **SWITCHES)
    need = room.warps // room.blocks * program.register_count
    return State(
        renaming=table._replace(places=per_sm(np.full(1, room.registers, np.int64))),
        need=need,
        claim=per_warp(np.full(program.register_count, NO_CLAIM, np.uint8)),
        claims=per_sm(np.zeros(room.blocks, np.int64)),
        pool=per_sm(np.full(1, room.registers, np.int64)),
        fewest=per_sm(np.full(1, NONE_WAITS, np.int64)),
        waits=per_sm(np.zeros(room.blocks, np.uint8)),
        least=per_sm(np.zeros(guaranteed_blocks(parameters, room, need), np.int64)),
        **empty_places(room.blocks),
    )


def guaranteed_blocks(parameters: Parameters, room: Room, need: int) -> int:
    """The thread blocks of which no warp waits: those wanted, of those that the register file holds in full."""
    fitting = min(room.blocks, room.registers // max(1, need))
    return fitting if parameters.guaranteed == ALL_THAT_FIT else min(parameters.guaranteed, fitting)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file, gated."""
    return register_file(enabled=True)


def hardware(parameters: Parameters, machine: Machine) -> tuple[Table | Logic, ...]:
    """Renaming table, and an availability bit for each physical register."""
    physical = machine.warp_registers
    bits = math.ceil(math.log2(physical))
    banks = machine.register_file.banks
    return (
        Table("renaming", parameters.table_entries, bits, banks=banks, ports=2, stages=1),
        Table("free-map", physical, bits=1, banks=1, ports=2, stages=0),
    )


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    arrive(state, program, plan.sm, warp)
    state.renaming.resident[plan.sm, 0] += program.register_count


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    wanted = 0
    for operand in result_operands(program, pc):
        wanted += state.claim[warp, program.result[operand]] == NO_CLAIM
    if wanted != 0:
        if not is_granted(state, plan.sm, state.place[warp], wanted):
            state.fewest[plan.sm, 0] = min(state.fewest[plan.sm, 0], wanted)
            state.waits[plan.sm, state.place[warp]] = 1
            count(plan, THROTTLED)
            return POOL
        state.claims[plan.sm, state.place[warp]] += wanted
        state.pool[plan.sm, 0] -= wanted
        level(plan, CLAIMED, state.renaming.free.shape[1] - state.pool[plan.sm, 0])
    for operand in result_operands(program, pc):
        state.claim[warp, program.result[operand]] = WRITES
    return GO


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    issue_sources(by_reference(fixed(state.renaming)), program, warp, pc, plan)
    if program.hints.entered[pc]:
        block = program.hints.entered[pc] - 1
        for word in range(program.hints.released.shape[1]):
            bits = program.hints.released[block, word]
            while bits:
                end_claim(state, warp, word * WORD + lowest_bit(bits), plan)
                bits &= bits - 1


@hook
def collected(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if end_source(by_reference(fixed(state.renaming)), program, warp, operand, plan):
        end_claim(state, warp, program.source[operand], plan)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        rename_result(by_reference(fixed(state.renaming)), program, warp, operand, plan)
        state.claim[warp, program.result[operand]] = HOLDS
        end_claim(state, warp, program.result[operand], plan)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    end_warp(by_reference(fixed(state.renaming)), plan.sm, warp)
    for register in range(state.claim.shape[1]):
        end_claim(state, warp, register, plan)
    level(plan, IN_USE, state.renaming.in_use[plan.sm, 0])
    state.renaming.resident[plan.sm, 0] -= program.register_count
    report_resident(by_reference(fixed(state.renaming)), plan)
    depart(state, plan.sm, warp)


def is_granted(state: Any, sm: int, place: int, wanted: int) -> bool:
    """Whether the guaranteed number of thread blocks can still claim all that they lack when one has claimed more.

    The claim lowers what its thread block lacks, which therefore may be one of those that lack least.
    """
    free = state.pool[sm, 0]
    lacking, most = sum_of_least(state, sm)
    return bool(free - wanted >= lacking or free >= lacking - most + state.need - state.claims[sm, place])


def sum_of_least(state: Any, sm: int) -> tuple[int, int]:
    """What the guaranteed number of thread blocks that lack least lack together, and the most that one of them does.

    Equal to what all lack, and `need`, if there are fewer.
    """
    least = state.least[sm]
    size = least.shape[0]
    filled = 0
    for place in range(state.claims.shape[1]):
        if state.block[sm, place] == NOBODY:
            continue
        lack = state.need - state.claims[sm, place]
        if filled == size and lack >= least[size - 1]:
            continue
        filled = min(filled + 1, size)
        at = filled - 1
        while at > 0 and least[at - 1] > lack:
            least[at] = least[at - 1]
            at -= 1
        least[at] = lack
    lacking = 0
    for at in range(filled):
        lacking += least[at]
    return lacking, least[size - 1] if filled == size else state.need


def end_claim(state: Any, warp: int, register: int, plan: Plan) -> None:
    """The claim of a register ends if it has no value any more and none is coming."""
    if state.claim[warp, register] != HOLDS or state.renaming.table[warp, register] != UNMAPPED:
        return
    state.claim[warp, register] = NO_CLAIM
    state.claims[plan.sm, state.place[warp]] -= 1
    state.pool[plan.sm, 0] += 1
    level(plan, CLAIMED, state.renaming.free.shape[1] - state.pool[plan.sm, 0])
    if state.fewest[plan.sm, 0] != NONE_WAITS and one_is_granted(state, plan.sm):
        state.fewest[plan.sm, 0] = NONE_WAITS
        for place in range(state.waits.shape[1]):
            state.waits[plan.sm, place] = 0
        wake(plan, POOL)


def one_is_granted(state: Any, sm: int) -> bool:
    """Whether a warp that waits would be granted its claim, by the rule of `is_granted`."""
    free = state.pool[sm, 0]
    lacking, most = sum_of_least(state, sm)
    if free - state.fewest[sm, 0] >= lacking:
        return True
    for place in range(state.claims.shape[1]):
        lack = state.need - state.claims[sm, place]
        if state.waits[sm, place] and state.block[sm, place] != NOBODY and free >= lacking - most + lack:
            return True
    return False
