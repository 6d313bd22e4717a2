"""Which warps could issue: looked at again when something happened to them, when their SM's phase 3 begins."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest, round_after
from warpreg.timing.core.columns import Core
from warpreg.timing.core.inflight import wake_at
from warpreg.timing.core.rows import scheduler_at, warp_of


def look_again(c: Core, d: Any, sm: int, scheduler: int, now: int) -> None:
    """Find anew the cause of every marked warp of a scheduler, and take from the active set who must leave it."""
    row = scheduler_at(c, sm, scheduler)
    marked = c.rows[row, at.DIRTY]
    c.rows[row, at.DIRTY] = 0
    while marked != 0:
        position = lowest(marked)
        marked ^= bit(position)
        warp = warp_of(c, sm, scheduler, position)
        if c.rows[warp, at.PRESENT] != 0:
            _look(c, d, sm, row, position, warp, now)


def _look(c: Core, d: Any, sm: int, row: int, position: int, warp: int, now: int) -> None:
    waited = slowest(c, warp)
    if c.rows[warp, at.STOP] == at.AT_FENCE and _is_past_fence(c, warp):
        c.rows[warp, at.STOP] = at.GOING
    if ports.is_two_level(c):
        _two_levels(c, d, sm, row, position, warp, waited, now)
    set_cause(c, row, position, warp, _cause(c, row, position, warp, waited, now), now)


def _is_past_fence(c: Core, warp: int) -> bool:
    """Whether all is complete that the warp's fence waits for."""
    awaited = c.rows[warp, at.AWAITED]
    return c.rows[warp, at.COPIED] >= awaited if awaited != at.NONE else c.rows[warp, at.FLIGHT] == 0


def slowest(c: Core, warp: int) -> int:
    """The slowest class of the results that the head waits for, -1 if it waits for none; with active sets LONG_BIT too
    if one has a long latency.
    """
    head = c.rows[warp, at.HEAD]
    if head == at.NONE or not _waits_for(c, warp, head, at.BUSY):
        return -1
    words = c.machine[at.WORDS]
    if not _waits_for(c, warp, head, at.BUSY + at.SLOW_SET * words):
        return 0
    found = len(at.WAITS) - 1
    while not _waits_for(c, warp, head, at.BUSY + (at.SLOW_SET + found) * words):
        found -= 1
    if ports.is_two_level(c) and _waits_for(c, warp, head, at.BUSY + at.LONG_SET * words):
        found |= at.LONG_BIT
    return found


def _waits_for(c: Core, warp: int, head: int, first: int) -> bool:
    """Whether the head needs a cell of the warp's set that begins at column ``first``."""
    found = 0
    for word in range(c.machine[at.WORDS]):
        found |= c.code[head, at.NEED + word] & c.rows[warp, first + word]
    return found != 0


def _cause(c: Core, row: int, position: int, warp: int, waited: int, now: int) -> int:
    """The first that holds, in the order of the stall account; READY where only the structure may stand in the way."""
    if c.rows[warp, at.HEAD] == at.NONE:
        return at.DRAIN
    stop = c.rows[warp, at.STOP]
    if stop != at.GOING:
        return at.BARRIER_WAIT + stop - at.AT_BARRIER
    if c.rows[warp, at.ASKS_FROM] > now:
        c.rows[row, at.DIRTY] |= bit(position)
        return at.TOKEN_WAIT
    if c.rows[warp, at.FETCHED] > now:
        return at.FETCH
    if waited >= 0:
        return wait_cause(waited)
    if ports.is_two_level(c):
        if c.rows[row, at.ACTIVE] & bit(position) == 0:
            return at.INACTIVE
        if c.rows[warp, at.SWAP_UNTIL] > now:
            return at.SWAP
    return at.READY


def wait_cause(waited: int) -> int:
    """The cause of a wait class."""
    kind = waited & at.CLASS_BITS
    return at.MEMORY if kind == 4 else at.ALU + kind


def set_cause(c: Core, row: int, position: int, warp: int, cause: int, now: int) -> None:
    """From ``now`` on a warp waits for ``cause``; the cycles before go to the account."""
    before = c.rows[warp, at.CAUSE]
    own = bit(position)
    if before == at.READY:
        take_from_ready(c, row, warp, own)
    else:
        cycles = now - c.rows[warp, at.SINCE]
        c.rows[row + c.machine[at.TO_ACCOUNT], before] += cycles
        if before == at.MEMORY:
            c.rows[warp, at.MEMORY_CYCLES] += cycles
    c.rows[warp, at.CAUSE] = cause
    c.rows[warp, at.SINCE] = now
    if cause == at.READY:
        pipe = c.code[c.rows[warp, at.HEAD], at.PIPE]
        c.rows[warp, at.WANTED] = pipe
        c.rows[row, at.READY_WARPS] |= own
        c.rows[row, at.WANTS + pipe] |= own
        c.rows[row, at.WANTED_PIPES] |= bit(pipe)


def take_from_ready(c: Core, row: int, warp: int, own: int) -> None:
    """Out of the ready warps, and of those that want their pipe; ``own``: the set of this warp."""
    c.rows[row, at.READY_WARPS] &= ~own
    pipe = c.rows[warp, at.WANTED]
    others = c.rows[row, at.WANTS + pipe] & ~own
    c.rows[row, at.WANTS + pipe] = others
    if others == 0:
        c.rows[row, at.WANTED_PIPES] &= ~bit(pipe)


def _two_levels(c: Core, d: Any, sm: int, row: int, position: int, warp: int, waited: int, now: int) -> None:
    """Leave the active set where a rule says so; know whether the warp could enter it."""
    own = bit(position)
    if c.rows[row, at.ACTIVE] & own != 0 and _leaves(c, warp, waited, now):
        c.rows[row, at.ACTIVE] ^= own
        if c.rows[warp, at.HEAD] != at.NONE:
            ports.suspended(c, d, sm, warp, now)
    know_eligible(c, warp, waited)


def know_eligible(c: Core, warp: int, waited: int) -> None:
    """Whether a pending warp could enter the active set."""
    row = c.rows[warp, at.TURN_ROW]
    own = c.rows[warp, at.OWN]
    able = (
        c.rows[warp, at.HEAD] != at.NONE
        and c.rows[warp, at.STOP] == at.GOING
        and (waited < 0 or waited & at.LONG_BIT == 0)
        and c.rows[row, at.ACTIVE] & own == 0
    )
    if able:
        c.rows[row, at.ELIGIBLE] |= own
    else:
        c.rows[row, at.ELIGIBLE] &= ~own


def _leaves(c: Core, warp: int, waited: int, now: int) -> bool:
    head = c.rows[warp, at.HEAD]
    if head == at.NONE or c.rows[warp, at.STOP] != at.GOING:
        return True
    if c.rows[warp, at.FETCHED] > now or c.rows[warp, at.SUSPENDED] != 0:
        return False
    how = c.machine[at.SUSPEND]
    flagged = c.code[head, at.FLAGS] & at.SUSPENDS != 0
    if how == at.STATIC:
        leaves = flagged
    elif how == at.PENDING:
        leaves = flagged and waited >= 0 and waited & at.LONG_BIT != 0
    else:
        leaves = now - c.rows[warp, at.AT_WORK] >= c.machine[at.STALL_THRESHOLD]
    if leaves:
        c.rows[warp, at.SUSPENDED] = 1
    return leaves


def fill_active(c: Core, d: Any, sm: int, scheduler: int, now: int) -> bool:
    """Fill the free places of the active set at the end of phase 3; whether anybody entered it."""
    row = scheduler_at(c, sm, scheduler)
    places = c.machine[at.ACTIVE_WARPS] - count(c.rows[row, at.ACTIVE])
    filled = False
    while places > 0 and c.rows[row, at.ELIGIBLE] != 0:
        position = round_after(c.rows[row, at.ELIGIBLE], c.rows[row, at.LAST_ACTIVE])
        warp = warp_of(c, sm, scheduler, position)
        enter_active(c, d, sm, row, position, warp, now)
        places -= 1
        filled = True
    return filled


def enter_active(c: Core, d: Any, sm: int, row: int, position: int, warp: int, now: int) -> None:
    """A warp enters the active set, and may issue once it is swapped in."""
    swapped = now + 1 + c.machine[at.SWAP_CYCLES]
    c.rows[row, at.ACTIVE] |= bit(position)
    c.rows[row, at.ELIGIBLE] &= ~bit(position)
    c.rows[row, at.DIRTY] |= bit(position)
    c.rows[row, at.LAST_ACTIVE] = position
    c.rows[warp, at.SWAP_UNTIL] = swapped
    c.rows[warp, at.AT_WORK] = now
    if swapped > now + 1:
        wake_at(c, sm, warp, swapped, now)
    watch_for_stall(c, sm, warp, now)
    ports.activated(c, d, sm, warp, now)


def watch_for_stall(c: Core, sm: int, warp: int, now: int) -> None:
    """Where warps are suspended after a time without issue: look at this one when the time is over."""
    if ports.is_two_level(c) and c.machine[at.SUSPEND] == at.STALL:
        c.rows[warp, at.AT_WORK] = now
        wake_at(c, sm, warp, now + c.machine[at.STALL_THRESHOLD], now)
