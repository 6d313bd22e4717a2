"""The plan of an instruction, filled by hooks: the level of each operand, moves between levels, tokens to wake.

These functions are compiled into the hooks that call them.  Indices of levels, events and resources are positions in
the design's declaration; an operand is a row of the program table (``program.source``, ``program.result``).

A core makes a :class:`Plan` for each call.  Every core keeps counts (``accesses``, ``moves``, ``events``).  Details
(where and when an operand is accessed) are kept if ``detailed`` is 1; if a core passes a literal 0, the compiler
removes the code for them.  A detailed core sets all columns of ``sources`` to UNSET before ``plan_reads``, and those of
``results`` before ``plan_write``; an operand without a LEVEL after the call is not accessed.  The core resets
``queued`` after it has consumed the queues.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PRIVATE, SHARED = 0, 1
READ, WRITE = 0, 1
UNSET = -1
"""In a column of the details: not set, so the core's default applies; as a LEVEL: no access."""
GO = -1
"""What ``admit`` returns to let an instruction issue; anything else is a token to wait for, 0 or more."""
IRREGULAR = -(1 << 62)
"""The stride of lane addresses that are not affine in the lane; outside the 32-bit range of real strides."""

LEVEL, BANK, CYCLES, MERGED, SLICES = range(5)
"""Columns of an operand's details; MERGED is the row in ``sources`` of the operand whose access it shares."""
IN_BANKS, ELSEWHERE = 0, 1
"""Second index of ``results``: the write that needs a bank (MRF, or a bank was given), and the one that needs none."""
EXTRA_ACTION, EXTRA_WARP, EXTRA_REGISTER, EXTRA_BANK, EXTRA_SLICES = range(5)
"""Columns of an extra MRF access."""
EXTRAS, WOKEN = 0, 1
"""Index of ``queued``."""
ALONE, FIRST, LATER = range(3)
"""The position of a design among those of a composition that plan operands."""
VALUE, SINCE, INTEGRAL = range(3)
"""Columns of a resource: its value, the cycle since which it has this value, and its sum over all earlier cycles."""


class Plan(NamedTuple):
    """The plan of one instruction or event; hooks fill it through the functions below.

    Counts: ``accesses`` int64[levels * 4], index ``(level * 2 + action) * 2 + datapath``; ``moves`` int64[levels,
    levels] from, to; ``events`` int64[events].  The instruction: ``mask`` the active lanes (in replay at the block's
    entry), ``datapath`` PRIVATE or SHARED, ``base`` and ``stride`` the lane addresses of a memory instruction in the
    hooks that are called for one (else 0; IRREGULAR where the lanes are not affine), ``warp`` and ``sm`` that the
    hook is called for, ``cycle`` the clock.

    Details: ``detailed`` 1 where they are kept; ``first_source`` and ``first_result`` the operands of row 0;
    ``sources`` int32[operands, 5] and ``results`` int32[operands, 2, 5] with columns LEVEL, BANK, CYCLES, MERGED,
    SLICES; ``extras`` int32[n, 5] with columns EXTRA_*; ``woken`` int64[n] tokens; ``queued`` int64[2] the rows of
    extras and of woken in use, which exceed n on overflow so that the core can report it; ``levels`` int64[sms,
    resources, 3] with columns VALUE, SINCE, INTEGRAL.

    In a composition ``first_level``, ``first_event`` and ``first_resource`` are the offsets of the design's own ones.
    If several designs plan operands, ``turn`` is FIRST or LATER (else ALONE) and the operands' rows are always kept: a
    later design can place accesses of the register file, and does not change operands that another level serves.
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


class Details(NamedTuple):
    """The arrays of a plan's details, which a core allocates once; documented at :class:`Plan`."""

    sources: NDArray[np.int32]
    results: NDArray[np.int32]
    extras: NDArray[np.int32]
    woken: NDArray[np.int64]
    queued: NDArray[np.int64]
    levels: NDArray[np.int64]


def details(sources: int, results: int, queue: int, sms: int, resources: int) -> Details:
    """Arrays for at most ``sources`` and ``results`` operands, and ``queue`` extras and tokens per call."""
    return Details(
        np.full((sources, 5), UNSET, np.int32),
        np.full((results, 2, 5), UNSET, np.int32),
        np.zeros((queue, 5), np.int32),
        np.zeros(queue, np.int64),
        np.zeros(2, np.int64),
        np.zeros((sms, resources, 3), np.int64),
    )


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

    ``bank``: its bank (default: for the MRF, the machine's mapping; for another level, none); ``cycles`` until the word
    is available (default 1); ``slices``: bit mask of the bank's slices that are read (default: all).  ``merged`` is an
    operand of the same instruction that was planned before for the same level: this operand shares its access, and no
    read is counted.
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
    """Result ``operand`` goes to ``level``: one write there.  Call it once for each level that is written.

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
    """Move a warp-register between levels (eviction, flush, fill): one read of ``source``, one write of ``target``.

    If one of them is the MRF and ``register`` (of ``warp``, default the hook's warp) is given, the access competes for
    the register's bank.  ``amount`` 0 moves nothing; this is faster than an unpredictable branch around the call.
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
    """An access that belongs to no operand (a merge, a fill, a tag in the banks): READ or WRITE of ``register`` at
    ``level``.  It counts towards the plan's datapath; an MRF access competes for its bank.
    """
    _count_access(plan, level, action)
    if plan.detailed and (level == 0 or bank >= 0):
        _queue_extra(plan, action, register, warp, bank, slices)


def count(plan: Plan, event: int, amount: int = 1) -> None:
    """Add ``amount`` to one of the design's own events."""
    plan.events[plan.first_event + event] += amount


def wake(plan: Plan, token: int) -> None:
    """Warps of this SM that wait for ``token`` call ``admit`` again from the next cycle on."""
    if plan.detailed:
        if plan.queued[WOKEN] < plan.woken.size:
            plan.woken[plan.queued[WOKEN]] = token
        plan.queued[WOKEN] += 1


def level(plan: Plan, resource: int, value: int) -> None:
    """Set ``resource`` of this SM to ``value`` from this cycle on; the core sums it over all cycles."""
    if plan.detailed:
        row = plan.levels[plan.sm, plan.first_resource + resource]
        row[INTEGRAL] += row[VALUE] * (plan.cycle - row[SINCE])
        row[VALUE] = value
        row[SINCE] = plan.cycle


def now(plan: Plan) -> int:
    """The current cycle; 0 in a replay."""
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
