"""Instructions in flight: allocated from a pool at issue, due at a cycle, released when complete.

Due entries are in a timing wheel: one bucket per cycle ahead, each a list in order of insertion, and a set of warp
slots to be checked.
"""

from __future__ import annotations

from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import Cause, clock, machine, ops, schedulers, sms, warps
from warpreg.timing.core.rows import op_after, slot_of, warp_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, NONE, OpRow, Pc, SmRow, WarpRow

FIRST, LAST, WOKEN = range(3)
WHEEL_WORDS = 4  # a fraction of a cache line of the host
"""Columns of a bucket of the timing wheel: first and last entry, and the slots of warps that are checked then."""


def take_op(c: Core, sm: SmRow, warp: WarpRow, pc: Pc) -> OpRow:
    """Allocate an entry of the pool."""
    op = c.clock[clock.FREE_OP]
    if op == NONE:
        op = c.clock[clock.FRESH_OP]
        c.clock[clock.FRESH_OP] = op_after(c, op)
    else:
        c.clock[clock.FREE_OP] = c.rows[op, ops.NEXT]
    c.clock[clock.FREE_OPS] -= 1
    c.rows[op, ops.WARP] = warp
    c.rows[op, ops.PC] = pc
    c.rows[op, ops.TICKETS] = 0
    c.rows[op, ops.TO_SEND] = 0
    return op


def give_op(c: Core, op: OpRow) -> None:
    """Release an entry to the pool."""
    c.rows[op, ops.NEXT] = c.clock[clock.FREE_OP]
    c.clock[clock.FREE_OP] = op
    c.clock[clock.FREE_OPS] += 1


def schedule(c: Core, sm: SmRow, op: OpRow, due: int, now: int) -> None:
    """Schedule ``op`` at cycle ``due``, which is after ``now``.  Beyond the wheel it waits in the last bucket and is
    inserted again.
    """
    size = c.machine[machine.WHEEL]
    c.rows[op, ops.DUE] = due
    c.rows[op, ops.NEXT] = NONE
    index = (due if due - now < size else now + size - 1) & (size - 1)
    bucket = sm * size + index
    if c.wheel[bucket, FIRST] == NONE:
        c.wheel[bucket, FIRST] = op
        c.table[sm, sms.RIPE + (index >> 6)] |= bit(index & 63)
    else:
        c.rows[c.wheel[bucket, LAST], ops.NEXT] = op
    c.wheel[bucket, LAST] = op


def take_due(c: Core, sm: SmRow, now: int) -> OpRow:
    """Remove and return the list of entries due at ``now``, NONE if there are none; mark the warps to be checked."""
    size = c.machine[machine.WHEEL]
    index = now & (size - 1)
    ripe = c.table[sm, sms.RIPE + (index >> 6)]
    if ripe & bit(index & 63) == 0:
        return NONE
    c.table[sm, sms.RIPE + (index >> 6)] = ripe ^ bit(index & 63)
    bucket = sm * size + index
    woken = c.wheel[bucket, WOKEN]
    c.wheel[bucket, WOKEN] = 0
    while woken != 0:
        mark(c, warp_at(c, sm, lowest(woken)))
        woken &= woken - 1
    first = c.wheel[bucket, FIRST]
    c.wheel[bucket, FIRST] = NONE
    return first


def next_due(c: Core, sm: SmRow, now: int) -> int:
    """The first cycle after ``now`` in which an entry is due, NEVER if there is none."""
    size = c.machine[machine.WHEEL]
    index = (now + 1) & (size - 1)
    word = index >> 6
    within = index & 63
    bits = c.table[sm, sms.RIPE + word] >> within
    if bits != 0:
        return now + 1 + lowest(bits)
    distance = 64 - within
    words = size >> 6
    for _ in range(words):
        word = (word + 1) & (words - 1)
        if c.table[sm, sms.RIPE + word] != 0:
            return now + 1 + distance + lowest(c.table[sm, sms.RIPE + word])
        distance += 64
    return NEVER


def wake_at(c: Core, sm: SmRow, warp: WarpRow, due: int, now: int) -> None:
    """Check a warp again in cycle ``due``."""
    size = c.machine[machine.WHEEL]
    if due - now >= size:
        schedule(c, sm, take_op(c, sm, warp, ops.TIMER), due, now)
        return
    index = due & (size - 1)
    c.wheel[sm * size + index, WOKEN] |= bit(slot_of(c, sm, warp))
    c.table[sm, sms.RIPE + (index >> 6)] |= bit(index & 63)


def hold(c: Core, sm: SmRow, warp: WarpRow, until: int, cause: Cause, now: int) -> None:
    """Keep the head of a warp from issuing before cycle ``until``; of several causes, the one that ends last counts."""
    if until > c.rows[warp, warps.FETCHED]:
        c.rows[warp, warps.FETCHED] = until
        c.rows[warp, warps.HELD_FOR] = cause
        if until > now + 1:
            wake_at(c, sm, warp, until, now)


def mark(c: Core, warp: WarpRow) -> None:
    """Mark a warp whose state may have changed: phase 3 of its SM will check it."""
    c.rows[c.rows[warp, warps.TURN_ROW], schedulers.DIRTY] |= c.rows[warp, warps.OWN]
