"""Instructions under way: taken from a pool when they issue, due at a cycle, given back when they are complete.

What is due stands in a wheel of buckets, one for each of the next cycles, each a list in the order of arrival.
"""

from __future__ import annotations

from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import clock, machine, ops, schedulers, sms, warps
from warpreg.timing.core.columns.typed import NEVER, NONE, OpRow, Pc, SmRow, WarpRow
from warpreg.timing.core.rows import op_after
from warpreg.timing.core.state import Core


def take_op(c: Core, sm: SmRow, warp: WarpRow, pc: Pc) -> OpRow:
    """A fresh entry of the pool."""
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
    """Back into the pool."""
    c.rows[op, ops.NEXT] = c.clock[clock.FREE_OP]
    c.clock[clock.FREE_OP] = op
    c.clock[clock.FREE_OPS] += 1


def schedule(c: Core, sm: SmRow, op: OpRow, due: int, now: int) -> None:
    """``op`` is due at a cycle after ``now``; beyond the wheel it waits in the last bucket and goes round again."""
    size = c.machine[machine.WHEEL]
    c.rows[op, ops.DUE] = due
    c.rows[op, ops.NEXT] = NONE
    index = (due if due - now < size else now + size - 1) & (size - 1)
    bucket = sm * size + index
    if c.wheel[bucket, 0] == NONE:
        c.wheel[bucket, 0] = op
        c.table[sm, sms.RIPE + (index >> 6)] |= bit(index & 63)
    else:
        c.rows[c.wheel[bucket, 1], ops.NEXT] = op
    c.wheel[bucket, 1] = op


def take_due(c: Core, sm: SmRow, now: int) -> OpRow:
    """The list of what is due now, NONE if nothing is."""
    size = c.machine[machine.WHEEL]
    index = now & (size - 1)
    bucket = sm * size + index
    first = c.wheel[bucket, 0]
    if first != NONE:
        c.wheel[bucket, 0] = NONE
        c.table[sm, sms.RIPE + (index >> 6)] ^= bit(index & 63)
    return first


def next_due(c: Core, sm: SmRow, now: int) -> int:
    """The first cycle after ``now`` in which something is due, NEVER without."""
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
    """Look at a warp again in cycle ``due``."""
    op = take_op(c, sm, warp, ops.TIMER)
    schedule(c, sm, op, due, now)


def mark(c: Core, warp: WarpRow) -> None:
    """A warp whose state may have changed: it is looked at when its SM's next phase 3 begins."""
    c.rows[c.rows[warp, warps.TURN_ROW], schedulers.DIRTY] |= c.rows[warp, warps.OWN]
