"""Instructions under way: taken from a pool when they issue, due at a cycle, given back when they are complete.

What is due stands in a wheel of buckets, one for each of the next cycles, each a list in the order of arrival.
"""

from __future__ import annotations

from warpreg.timing.core import columns as at
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import Core


def take_op(c: Core, sm: int, warp: int, pc: int) -> int:
    """A fresh entry of the pool."""
    op = c.clock[at.FREE_OP]
    if op == at.NONE:
        op = c.clock[at.FRESH_OP]
        c.clock[at.FRESH_OP] = op + c.machine[at.ROW]
    else:
        c.clock[at.FREE_OP] = c.rows[op, at.OP_NEXT]
    c.clock[at.FREE_OPS] -= 1
    c.rows[op, at.OP_WARP] = warp
    c.rows[op, at.OP_PC] = pc
    c.rows[op, at.OP_TICKETS] = 0
    c.rows[op, at.OP_TO_SEND] = 0
    return op


def give_op(c: Core, op: int) -> None:
    """Back into the pool."""
    c.rows[op, at.OP_NEXT] = c.clock[at.FREE_OP]
    c.clock[at.FREE_OP] = op
    c.clock[at.FREE_OPS] += 1


def schedule(c: Core, sm: int, op: int, due: int, now: int) -> None:
    """``op`` is due at a cycle after ``now``; beyond the wheel it waits in the last bucket and goes round again."""
    size = c.machine[at.WHEEL]
    c.rows[op, at.OP_DUE] = due
    c.rows[op, at.OP_NEXT] = at.NONE
    place = (due if due - now < size else now + size - 1) & (size - 1)
    bucket = sm * size + place
    if c.wheel[bucket, 0] == at.NONE:
        c.wheel[bucket, 0] = op
        c.table[sm, at.RIPE + (place >> 6)] |= bit(place & 63)
    else:
        c.rows[c.wheel[bucket, 1], at.OP_NEXT] = op
    c.wheel[bucket, 1] = op


def take_due(c: Core, sm: int, now: int) -> int:
    """The list of what is due now, NONE if nothing is."""
    size = c.machine[at.WHEEL]
    place = now & (size - 1)
    bucket = sm * size + place
    first = c.wheel[bucket, 0]
    if first != at.NONE:
        c.wheel[bucket, 0] = at.NONE
        c.table[sm, at.RIPE + (place >> 6)] ^= bit(place & 63)
    return first


def next_due(c: Core, sm: int, now: int) -> int:
    """The first cycle after ``now`` in which something is due, NEVER without."""
    size = c.machine[at.WHEEL]
    place = (now + 1) & (size - 1)
    word = place >> 6
    within = place & 63
    bits = c.table[sm, at.RIPE + word] >> within
    if bits != 0:
        return now + 1 + lowest(bits)
    distance = 64 - within
    words = size >> 6
    for _ in range(words):
        word = (word + 1) & (words - 1)
        if c.table[sm, at.RIPE + word] != 0:
            return now + 1 + distance + lowest(c.table[sm, at.RIPE + word])
        distance += 64
    return at.NEVER


def wake_at(c: Core, sm: int, warp: int, due: int, now: int) -> None:
    """Look at a warp again in cycle ``due``."""
    op = take_op(c, sm, warp, at.TIMER)
    schedule(c, sm, op, due, now)


def mark(c: Core, warp: int) -> None:
    """A warp whose state may have changed: it is looked at when its SM's next phase 3 begins."""
    c.rows[c.rows[warp, at.TURN_ROW], at.DIRTY] |= c.rows[warp, at.OWN]
