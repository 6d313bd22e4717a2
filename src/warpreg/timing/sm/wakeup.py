"""Wakeup: find the warps that could issue.  Warps that changed are checked again at the start of phase 3."""

from __future__ import annotations

from typing import Any

from warpreg.gpu import scheduling
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest, round_after
from warpreg.timing.core.columns import Cause, causes, code, machine, schedulers, warps
from warpreg.timing.core.inflight import wake_at
from warpreg.timing.core.port import port
from warpreg.timing.core.rows import account_of, scheduler_at, warp_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, Column, Pc, SchedulerRow, SmRow, WarpRow

MEMORY_CLASS = 4
"""The wait class of memory."""


def look_again(c: Core, d: Any, sm: SmRow, scheduler: int, now: int) -> None:
    """Determine the cause of every marked warp of a scheduler, and suspend warps that must leave the active set."""
    row = scheduler_at(c, sm, scheduler)
    marked = c.rows[row, schedulers.DIRTY]
    c.rows[row, schedulers.DIRTY] = 0
    while marked != 0:
        position = lowest(marked)
        marked ^= bit(position)
        warp = warp_of(c, sm, scheduler, position)
        if c.rows[warp, warps.PRESENT] != 0:
            _look(c, d, sm, row, position, warp, now)


def _look(c: Core, d: Any, sm: SmRow, row: SchedulerRow, position: int, warp: WarpRow, now: int) -> None:
    waited = slowest(c, warp)
    if c.rows[warp, warps.STOP] == warps.AT_FENCE and is_past_fence(c, warp):
        c.rows[warp, warps.STOP] = warps.GOING
    if ports.is_two_level(c):
        _two_levels(c, d, sm, row, position, warp, waited, now)
    cause = _cause(c, row, position, warp, waited, now)
    ports.observe(c, d, sm, warp, cause, now)
    set_cause(c, row, position, warp, cause, now)


def is_past_fence(c: Core, warp: WarpRow) -> bool:
    """Whether everything that the fence of the warp waits for is complete."""
    awaited = c.rows[warp, warps.AWAITED]
    return c.rows[warp, warps.COPIED] >= awaited if awaited != NONE else c.rows[warp, warps.FLIGHT] == 0


def slowest(c: Core, warp: WarpRow) -> int:
    """The slowest wait class of the results that the head needs, -1 if it waits for none; with active sets, LONG_BIT is
    set if one has a long latency.
    """
    head = c.rows[warp, warps.HEAD]
    if head == NONE:
        return -1
    wait_class = MEMORY_CLASS if ports.exceeds_limit(c, warp, head) else -1
    if not needs_any_of(c, warp, head, warps.BUSY):
        return wait_class
    words = c.machine[machine.WORDS]
    wait_class = max(wait_class, 0)
    for kind in range(1, len(causes.WAITS)):
        wait_class = max(wait_class, kind) if needs_any_of(c, warp, head, warps.BUSY + kind * words) else wait_class
    if ports.is_two_level(c) and needs_any_of(c, warp, head, warps.BUSY + warps.LONG_SET * words):
        wait_class |= code.LONG_BIT
    return wait_class


def needs_any_of(c: Core, warp: WarpRow, head: Pc, first: Column[WarpRow, int]) -> bool:
    """Whether an instruction needs a cell of the warp's set at column ``first``."""
    found = 0
    for word in range(c.machine[machine.WORDS]):
        found |= c.code[head, code.NEED + word] & c.rows[warp, first + word]
    return found != 0


def _cause(c: Core, row: SchedulerRow, position: int, warp: WarpRow, waited: int, now: int) -> Cause:
    """The first matching cause in the order of the stall account; READY if only structural hazards remain."""
    if c.rows[warp, warps.HEAD] == NONE:
        return causes.DRAIN
    stop = c.rows[warp, warps.STOP]
    if stop != warps.GOING:
        return causes.BARRIER + (stop - warps.AT_BARRIER)
    if ports.asks_later(c, warp, now):
        c.rows[row, schedulers.DIRTY] |= bit(position)
        return causes.TOKEN
    if c.rows[warp, warps.FETCHED] > now:
        return c.rows[warp, warps.HELD_FOR]
    if waited >= 0:
        return wait_cause(waited)
    if ports.is_two_level(c):
        if c.rows[row, schedulers.ACTIVE] & bit(position) == 0:
            return causes.INACTIVE
        if c.rows[warp, warps.SWAP_UNTIL] > now:
            return causes.SWAP
    return causes.OPERANDS if ports.waits_for_readers(c, warp) else causes.READY


def wait_cause(waited: int) -> Cause:
    """The cause of a wait class."""
    kind = waited & code.CLASS_BITS
    return causes.MEMORY if kind == MEMORY_CLASS else causes.ALU + kind


@port("a recording")
def set_cause(c: Core, row: SchedulerRow, position: int, warp: WarpRow, cause: Cause, now: int) -> None:
    """Set the cause of a warp from ``now`` on; earlier cycles are added to the account."""
    before = c.rows[warp, warps.CAUSE]
    if ports.still_waits(before, cause):
        return
    own = bit(position)
    if before == causes.READY:
        if c.rows[row, schedulers.READY] & own != 0:
            take_from_ready(c, row, warp, own)
    else:
        cycles = now - c.rows[warp, warps.SINCE]
        c.rows[account_of(c, row), before] += cycles
        if before == causes.MEMORY:
            c.rows[warp, warps.MEMORY_CYCLES] += cycles
            ports.waited(c, warp, cycles)
    c.rows[warp, warps.CAUSE] = cause
    c.rows[warp, warps.SINCE] = now
    if cause == causes.READY:
        pipe = c.code[c.rows[warp, warps.HEAD], code.PIPE]
        c.rows[warp, warps.WANTED] = pipe
        c.rows[row, schedulers.READY] |= own
        c.rows[row, schedulers.WANTS + pipe] |= own
        c.rows[row, schedulers.WANTED_PIPES] |= bit(pipe)


def take_from_ready(c: Core, row: SchedulerRow, warp: WarpRow, own: int) -> None:
    """Remove a warp from the ready warps and from those of its pipe; ``own`` is the set that contains only it."""
    c.rows[row, schedulers.READY] &= ~own
    pipe = c.rows[warp, warps.WANTED]
    others = c.rows[row, schedulers.WANTS + pipe] & ~own
    c.rows[row, schedulers.WANTS + pipe] = others
    if others == 0:
        c.rows[row, schedulers.WANTED_PIPES] &= ~bit(pipe)


def _two_levels(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, position: int, warp: WarpRow, waited: int, now: int
) -> None:
    """Suspend the warp if a rule requires it; update whether it may be activated."""
    own = bit(position)
    if c.rows[row, schedulers.ACTIVE] & own != 0 and _leaves(c, warp, waited, now):
        c.rows[row, schedulers.ACTIVE] ^= own
        if c.rows[warp, warps.HEAD] != NONE:
            ports.suspended(c, d, sm, warp, now)
    know_eligible(c, warp, waited)


def know_eligible(c: Core, warp: WarpRow, waited: int) -> None:
    """Update whether a pending warp may be activated."""
    row = c.rows[warp, warps.TURN_ROW]
    own = c.rows[warp, warps.OWN]
    able = (
        c.rows[warp, warps.HEAD] != NONE
        and c.rows[warp, warps.STOP] == warps.GOING
        and not _awaits_long(c, warp, waited)
        and c.rows[row, schedulers.ACTIVE] & own == 0
    )
    if able:
        c.rows[row, schedulers.ELIGIBLE] |= own
    else:
        c.rows[row, schedulers.ELIGIBLE] &= ~own


def _awaits_long(c: Core, warp: WarpRow, waited: int) -> bool:
    """Whether a long-latency result is outstanding that the head needs, or any that a suspension at it waits for."""
    if waited >= 0 and waited & code.LONG_BIT != 0:
        return True
    if not ports.may_wait_for_all(c) or c.code[c.rows[warp, warps.HEAD], code.FLAGS] & code.WAITS_FOR_ALL == 0:
        return False
    words = c.machine[machine.WORDS]
    found = 0
    for word in range(words):
        found |= c.rows[warp, warps.BUSY + warps.LONG_SET * words + word]
    return found != 0


def _leaves(c: Core, warp: WarpRow, waited: int, now: int) -> bool:
    head = c.rows[warp, warps.HEAD]
    if head == NONE or (c.rows[warp, warps.STOP] != warps.GOING and not ports.keeps_place(c, warp)):
        return True
    if c.rows[warp, warps.FETCHED] > now or c.rows[warp, warps.SUSPENDED] != 0:
        return False
    how = c.machine[machine.SUSPEND]
    flagged = c.code[head, code.FLAGS] & code.SUSPENDS != 0
    if how == scheduling.STATIC:
        leaves = flagged
    elif how == scheduling.PENDING:
        leaves = flagged and _awaits_long(c, warp, waited)
    else:
        leaves = now - c.rows[warp, warps.AT_WORK] >= c.machine[machine.STALL_THRESHOLD]
    if leaves:
        c.rows[warp, warps.SUSPENDED] = 1
    return leaves


def fill_active(c: Core, d: Any, sm: SmRow, scheduler: int, now: int) -> bool:
    """Fill free places of the active set at the end of phase 3; returns whether a warp was activated."""
    row = scheduler_at(c, sm, scheduler)
    room = c.machine[machine.ACTIVE_WARPS] - count(c.rows[row, schedulers.ACTIVE])
    filled = False
    while room > 0 and c.rows[row, schedulers.ELIGIBLE] != 0:
        position = round_after(c.rows[row, schedulers.ELIGIBLE], c.rows[row, schedulers.LAST_ACTIVE])
        warp = warp_of(c, sm, scheduler, position)
        enter_active(c, d, sm, row, position, warp, now)
        room -= 1
        filled = True
    return filled


def enter_active(c: Core, d: Any, sm: SmRow, row: SchedulerRow, position: int, warp: WarpRow, now: int) -> None:
    """Activate a warp; it may issue after it is swapped in."""
    swapped = now + 1 + c.machine[machine.SWAP_CYCLES]
    c.rows[row, schedulers.ACTIVE] |= bit(position)
    c.rows[row, schedulers.ELIGIBLE] &= ~bit(position)
    c.rows[row, schedulers.DIRTY] |= bit(position)
    c.rows[row, schedulers.LAST_ACTIVE] = position
    c.rows[warp, warps.SWAP_UNTIL] = swapped
    c.rows[warp, warps.AT_WORK] = now
    if swapped > now + 1:
        wake_at(c, sm, warp, swapped, now)
    watch_for_stall(c, sm, warp, now)
    ports.activated(c, d, sm, warp, now)


def watch_for_stall(c: Core, sm: SmRow, warp: WarpRow, now: int) -> None:
    """With suspension after a stall, check the warp again when its threshold has passed."""
    if ports.is_two_level(c) and c.machine[machine.SUSPEND] == scheduling.STALL:
        c.rows[warp, warps.AT_WORK] = now
        wake_at(c, sm, warp, now + c.machine[machine.STALL_THRESHOLD], now)
