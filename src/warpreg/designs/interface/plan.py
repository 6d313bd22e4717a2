"""What a hook says about an instruction: which level serves each operand, what moves between levels, who may go on.

These functions are compiled into the hooks that call them.  Indices of levels, events and resources are positions in
the design's declaration; an operand is a row of the program table (``program.source``, ``program.result``).

A core has one blank :class:`Plan` (:func:`blank_plan`) and makes a plan of it for each call. Counts (``accesses``,
``moves``, ``events``) are kept by every core. The details, which say where and when an operand is accessed, are kept
where ``detailed`` is 1; a core that passes a literal 0 pays nothing for them, because the compiler drops what stands
behind it. Before it calls ``plan_reads`` a detailed core sets all columns of ``sources`` to UNSET, and of ``results``
before ``plan_write``; after the call an operand without a LEVEL is accessed nowhere. It empties ``queued`` once it has
taken what is queued.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.jit.records import replacing

PRIVATE, SHARED = 0, 1
READ, WRITE = 0, 1
UNSET = -1
"""In a column of the details: not said, so the core's default holds; as a LEVEL: nowhere."""
GO = -1
"""What ``admit`` returns to let an instruction issue; anything else is a token to wait for, 0 or more."""
IRREGULAR = -(1 << 62)
"""The stride of lane addresses that are not affine in the lane; real ones have 32 bits."""

LEVEL, BANK, CYCLES, MERGED, SLICES = range(5)
"""Columns of an operand's details; MERGED is the row in ``sources`` of the operand that it arrives with."""
IN_BANKS, ELSEWHERE = 0, 1
"""Second index of ``results``: the write that needs a bank (MRF, or a bank was named), and the one that needs none."""
EXTRA_ACTION, EXTRA_WARP, EXTRA_REGISTER, EXTRA_BANK, EXTRA_SLICES = range(5)
"""Columns of an extra access of the MRF."""
EXTRAS, WOKEN = 0, 1
"""Index of ``queued``."""
ALONE, FIRST, LATER = range(3)
"""Whose turn it is among the designs of a composition."""
VALUE, SINCE, INTEGRAL = range(3)
"""Columns of a resource: its value, the cycle from which it has that value, and the sum over all cycles before."""


class Plan(NamedTuple):
    """The plan of one instruction or event; hooks fill it through the functions below.

    Counts: ``accesses`` int64[levels * 4], index ``(level * 2 + action) * 2 + datapath``; ``moves`` int64[levels,
    levels] from, to; ``events`` int64[events].  The instruction: ``mask`` the active lanes (in replay at the block's
    entry), ``datapath`` PRIVATE or SHARED, ``base`` and ``stride`` the lane addresses of a memory instruction in the
    hooks that are called for one (else 0; IRREGULAR where the lanes are not affine), ``warp`` and ``sm`` that the
    hook is called for, ``cycle`` the clock.

    Details: ``detailed`` 1 where they are kept; ``first_source`` and ``first_result`` the operands of row 0;
    ``sources`` int32[operands, 5] and ``results`` int32[operands, 2, 5] with columns LEVEL, BANK, CYCLES, MERGED,
    SLICES; ``extras`` int32[n, 5] with columns EXTRA_*; ``woken`` int64[n] tokens; ``queued`` int64[2] how many rows
    of extras and of woken are in use, which counts on when the rows are full so that the core can refuse; ``levels``
    int64[sms, resources, 3] with columns VALUE, SINCE, INTEGRAL.

    In a composition ``first_level``, ``first_event`` and ``first_resource`` are where the design's own ones begin.
    Where several designs plan operands, ``turn`` is FIRST or LATER (else ALONE) and the operands' rows are always kept:
    a later design can place what goes to the register file, and leaves alone what another level serves.
    """

    accesses: NDArray[np.int64]
    moves: NDArray[np.int64]
    events: NDArray[np.int64]
    mask: int
    datapath: int
    base: int
    stride: int
    warp: int
    sm: int
    cycle: int
    detailed: int
    first_source: int
    first_result: int
    sources: NDArray[np.int32]
    results: NDArray[np.int32]
    extras: NDArray[np.int32]
    woken: NDArray[np.int64]
    queued: NDArray[np.int64]
    levels: NDArray[np.int64]
    turn: int
    first_level: int
    first_event: int
    first_resource: int


ARRAYS = (
    "accesses", "moves", "events", "sources", "results", "extras", "woken", "queued", "levels",
)  # fmt: skip
"""Fields that are the same in all plans of a core; the others are numbers."""

_of_instruction = replacing(*(name for name in Plan._fields if name not in ARRAYS))
_of_part = replacing("turn", "first_level", "first_event", "first_resource", "first_source", "first_result")


def blank_plan(
    levels: int, events: int, sources: int, results: int, queue: int = 0, sms: int = 0, resources: int = 0
) -> Plan:
    """A plan of arrays in which nothing is counted or said yet, for instructions of at most so many operands.

    There is room for ``queue`` extras and tokens in one call.
    """
    return Plan(
        accesses=np.zeros(levels * 4, np.int64),
        moves=np.zeros((levels, levels), np.int64),
        events=np.zeros(events, np.int64),
        sources=np.full((sources, 5), UNSET, np.int32),
        results=np.full((results, 2, 5), UNSET, np.int32),
        extras=np.zeros((queue, 5), np.int32),
        woken=np.zeros(queue, np.int64),
        queued=np.zeros(2, np.int64),
        levels=np.zeros((sms, resources, 3), np.int64),
        **{name: 0 for name in Plan._fields if name not in ARRAYS},
    )


def counting_plan(blank: Plan, mask: int, datapath: int, warp: int, sm: int) -> Plan:
    """The plan of a core that keeps counts only."""
    plan: Plan = _of_instruction(blank, mask, datapath, 0, 0, warp, sm, 0, 0, 0, 0, 0, 0, 0, 0)
    return plan


def detailed_plan(
    blank: Plan,
    mask: int,
    datapath: int,
    base: int,
    stride: int,
    warp: int,
    sm: int,
    cycle: int,
    first_source: int,
    first_result: int,
) -> Plan:
    """The plan of a core that keeps the details."""
    plan: Plan = _of_instruction(
        blank, mask, datapath, base, stride, warp, sm, cycle, 1, first_source, first_result, 0, 0, 0, 0
    )
    return plan


def plan_of_part(
    plan: Plan, turn: int, first_level: int, first_event: int, first_resource: int, first_source: int, first_result: int
) -> Plan:
    """The plan as one design of a composition sees it."""
    part: Plan = _of_part(plan, turn, first_level, first_event, first_resource, first_source, first_result)
    return part


def forget(rows: NDArray[np.int32], operands: int) -> None:
    """Set all columns of the first rows of ``sources`` or ``results`` to UNSET."""
    rows[:operands] = UNSET


def read(
    plan: Plan,
    operand: int,
    level: int,
    bank: int = UNSET,
    cycles: int = UNSET,
    merged: int = UNSET,
    slices: int = UNSET,
) -> None:
    """``level`` serves source ``operand``: one read there, towards the instruction's datapath.

    ``bank``: which one (else, for the MRF, the machine's mapping says; another level asks for no bank unless one is
    named); ``cycles`` until the word is there (else 1); ``slices``: bits of the bank's slices that are read (else all).
    With ``merged``, an operand of the same instruction that was planned before for the same level, this one arrives
    with that one and nothing is counted.
    """
    if plan.detailed or plan.turn:
        row = operand - plan.first_source
        before = plan.sources[row, LEVEL] if plan.turn == LATER else UNSET
        if before > 0:
            return
        if before == 0:
            plan.accesses[READ * 2 + plan.datapath] -= 1
        absolute = _level(plan, level)
        if merged >= 0 and plan.sources[merged - plan.first_source, LEVEL] != absolute:
            merged = UNSET
        plan.sources[row, LEVEL] = absolute
        plan.sources[row, MERGED] = merged - plan.first_source if merged >= 0 else UNSET
        if bank != UNSET:
            plan.sources[row, BANK] = bank
        if cycles != UNSET:
            plan.sources[row, CYCLES] = cycles
        if slices != UNSET:
            plan.sources[row, SLICES] = slices
    if merged < 0:
        _count_access(plan, level, READ)


def write(plan: Plan, operand: int, level: int, bank: int = UNSET, cycles: int = UNSET, slices: int = UNSET) -> None:
    """``level`` takes result ``operand``: one write there; call it once for each level that takes the result.

    ``bank``, ``cycles`` and ``slices`` as for a read.
    """
    if plan.detailed or plan.turn:
        row = operand - plan.first_result
        banked = plan.results[row, IN_BANKS, LEVEL]
        if plan.turn == LATER and (banked != UNSET or plan.results[row, ELSEWHERE, LEVEL] != UNSET):
            if banked != 0:
                return
            plan.accesses[WRITE * 2 + plan.datapath] -= 1
        place = IN_BANKS if plan.turn == LATER or level == 0 or bank >= 0 else ELSEWHERE
        plan.results[row, place, LEVEL] = _level(plan, level)
        if bank != UNSET:
            plan.results[row, place, BANK] = bank
        if cycles != UNSET:
            plan.results[row, place, CYCLES] = cycles
        if slices != UNSET:
            plan.results[row, place, SLICES] = slices
    _count_access(plan, level, WRITE)


def move(plan: Plan, source: int, target: int, register: int = UNSET, warp: int = UNSET, amount: int = 1) -> None:
    """A warp-register goes from level to level (eviction, flush, fill): one read of ``source``, one write of
    ``target``.

    Where one of them is the MRF and the ``register`` (of ``warp``, else of the hook's warp) is named, the access
    competes for the register's bank.  With ``amount`` 0 nothing goes, which is faster
    than a branch around the call where the processor cannot guess it.
    """
    plan.moves[_level(plan, source), _level(plan, target)] += amount
    if plan.detailed and register >= 0 and amount:
        if source == 0:
            _queue_extra(plan, READ, register, warp, UNSET, UNSET)
        if target == 0:
            _queue_extra(plan, WRITE, register, warp, UNSET, UNSET)


def extra(
    plan: Plan,
    level: int,
    action: int,
    register: int,
    warp: int = UNSET,
    bank: int = UNSET,
    slices: int = UNSET,
) -> None:
    """An access that belongs to no operand (a merge, a fill, a tag kept in the banks): READ or WRITE of ``register`` at
    ``level``; it counts with the plan's datapath, and one of the MRF competes for its bank.
    """
    _count_access(plan, level, action)
    if plan.detailed and (level == 0 or bank >= 0):
        _queue_extra(plan, action, register, warp, bank, slices)


def count(plan: Plan, event: int, amount: int = 1) -> None:
    """``amount`` more of one of the design's own events."""
    plan.events[plan.first_event + event] += amount


def wake(plan: Plan, token: int) -> None:
    """Warps of this SM that wait for ``token`` ask ``admit`` again, from the next cycle on."""
    if plan.detailed:
        if plan.queued[WOKEN] < plan.woken.size:
            plan.woken[plan.queued[WOKEN]] = token
        plan.queued[WOKEN] += 1


def level(plan: Plan, resource: int, value: int) -> None:
    """From this cycle on ``resource`` of this SM has ``value``; the core sums it over all cycles."""
    if plan.detailed:
        row = plan.levels[plan.sm, plan.first_resource + resource]
        row[INTEGRAL] += row[VALUE] * (plan.cycle - row[SINCE])
        row[VALUE] = value
        row[SINCE] = plan.cycle


def now(plan: Plan) -> int:
    """The cycle; 0 in a replay."""
    return plan.cycle


def _level(plan: Plan, level: int) -> int:
    """Index of a level in a composition."""
    return level + plan.first_level if level > 0 else 0


def _count_access(plan: Plan, level: int, action: int) -> None:
    plan.accesses[(_level(plan, level) * 2 + action) * 2 + plan.datapath] += 1


def _queue_extra(plan: Plan, action: int, register: int, warp: int, bank: int, slices: int) -> None:
    if plan.queued[EXTRAS] < plan.extras.shape[0]:
        row = plan.queued[EXTRAS]
        plan.extras[row, EXTRA_ACTION] = action
        plan.extras[row, EXTRA_WARP] = warp if warp >= 0 else plan.warp
        plan.extras[row, EXTRA_REGISTER] = register
        plan.extras[row, EXTRA_BANK] = bank
        plan.extras[row, EXTRA_SLICES] = slices
    plan.queued[EXTRAS] += 1
