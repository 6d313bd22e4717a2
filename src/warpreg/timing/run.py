"""The loop over cycles: an SM is stepped where something can happen; cycles in which nothing can are skipped."""

from __future__ import annotations

from typing import Any

from warpreg.timing import at, calls
from warpreg.timing.account import blocked_warps
from warpreg.timing.at import Core
from warpreg.timing.complete import complete
from warpreg.timing.issue import release_barriers, take_turn
from warpreg.timing.load_store import send_one
from warpreg.timing.place import leave, place
from warpreg.timing.ready import fill_active, look_again
from warpreg.timing.under_way import next_due

PATIENCE = 4_000_000
"""Cycles without an instruction issued after which a run counts as stuck."""


def run(c: Core, memory: Any, d: Any) -> int:
    """Go on until all thread blocks are done (DONE), more of them or more room for instructions under way is needed,
    or nothing can happen any more (STUCK).  What is needed is asked for between cycles.
    """
    sms = c.machine[at.SMS]
    while True:
        now = c.clock[at.NOW]
        if _needs_blocks(c):
            return at.NEEDS_BLOCKS
        if c.clock[at.FREE_OPS] < c.clock[at.LEAST_OPS]:
            return at.NEEDS_ROOM
        if calls.next_event(memory, now) <= now:
            calls.advance(memory, now)
        soonest = at.NEVER
        for sm in range(sms):
            if min(c.rows[sm, at.DUE], calls.next_return(memory, sm)) <= now:
                c.rows[sm, at.DUE] = _step(c, memory, d, sm, now)
                c.clock[at.STEPS_TAKEN] += 1
            soonest = min(soonest, c.rows[sm, at.DUE], calls.next_return(memory, sm))
        if c.clock[at.OVERFLOW] != 0:
            return at.OVERFLOWED
        if c.clock[at.ENDED_BLOCKS] == c.clock[at.TOTAL_BLOCKS]:
            return at.DONE
        soonest = max(now + 1, min(soonest, calls.next_event(memory, now + 1)))
        if soonest >= at.NEVER or soonest - c.clock[at.LAST_PROGRESS] > PATIENCE:
            return at.STUCK
        c.clock[at.NOW] = soonest


def _needs_blocks(c: Core) -> bool:
    loaded = c.clock[at.LOADED_BLOCKS]
    return loaded < c.clock[at.TOTAL_BLOCKS] and loaded - c.clock[at.NEXT_BLOCK] < c.machine[at.SMS]


def _step(c: Core, memory: Any, d: Any, sm: int, now: int) -> int:
    """One cycle of an SM; returns when it is to be stepped next, memory's returns apart."""
    schedulers = c.machine[at.SCHEDULERS]
    gap = now - 1 - c.rows[sm, at.STEPPED]
    if gap > 0:
        for scheduler in range(schedulers):
            if c.rows[c.machine[at.FIRST_SCHEDULER] + sm * schedulers + scheduler, at.READY_WARPS] != 0:
                blocked_warps(c, sm, scheduler, gap, now - 1)
    c.rows[sm, at.STEPPED] = now
    complete(c, memory, d, sm, now)
    calls.queue_extras(c, sm)
    send_one(c, memory, d, sm, now)
    later = calls.collect(c, d, sm, now)
    calls.queue_extras(c, sm)
    again = _issue_phase(c, d, sm, now)
    calls.queue_extras(c, sm)
    later = min(later, c.rows[sm, at.RETRY_AT])
    if c.rows[sm, at.ENDED_WARPS] != 0:
        leave(c, d, sm, now)
    placed = place(c, d, sm, now)
    calls.queue_extras(c, sm)
    if placed or again or c.machine[at.EVERY_CYCLE] != 0 or calls.is_collecting(c, sm):
        return now + 1
    if c.rows[sm, at.QUEUED] != 0:
        later = min(later, c.rows[sm, at.QUEUE_AT])
    return min(later, next_due(c, sm, now))


def _issue_phase(c: Core, d: Any, sm: int, now: int) -> bool:
    """Phase 3; whether a warp that is ready was left over, or one changed."""
    schedulers = c.machine[at.SCHEDULERS]
    base = c.machine[at.FIRST_SCHEDULER] + sm * schedulers
    c.rows[sm, at.RETRY_AT] = at.NEVER
    for scheduler in range(schedulers):
        if c.rows[base + scheduler, at.DIRTY] != 0:
            look_again(c, d, sm, scheduler, now)
    again = False
    for scheduler in range(schedulers):
        if take_turn(c, d, sm, scheduler, now):
            again = True
    if c.rows[sm, at.CHECK_BARRIER] != 0:
        release_barriers(c, sm)
    if calls.is_two_level(c):
        for scheduler in range(schedulers):
            fill_active(c, d, sm, scheduler, now)
    for scheduler in range(schedulers):
        if c.rows[base + scheduler, at.DIRTY] != 0:
            again = True
    return again
