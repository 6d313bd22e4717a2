"""Phase 4 of a cycle: thread blocks that have ended leave their SM, and it takes the next one if there is room."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import Core
from warpreg.timing.core.rows import block_at, scheduler_at, warp_at
from warpreg.timing.sm.issue import move_on
from warpreg.timing.sm.wakeup import enter_active, set_cause
from warpreg.timing.sm.writeback import end_warp


def leave(c: Core, d: Any, sm: int, now: int) -> None:
    """Tell which warps have ended in this cycle, free the slots of the thread blocks that have."""
    warps = c.table[sm, at.ENDED_WARPS]
    c.table[sm, at.ENDED_WARPS] = 0
    while warps != 0:
        slot = lowest(warps)
        warps ^= bit(slot)
        ports.warp_end(c, d, sm, warp_at(c, sm, slot), now)
    ended = c.table[sm, at.BLOCK_ENDED]
    c.table[sm, at.BLOCK_ENDED] = 0
    while ended != 0:
        block = lowest(ended)
        ended ^= bit(block)
        ports.block_end(c, d, sm, now)
        for slot in range(c.machine[at.SLOTS]):
            warp = warp_at(c, sm, slot)
            if c.rows[warp, at.BLOCK] == block_at(c, sm, block):
                _leave_slot(c, sm, slot, warp, now)
        c.table[sm, at.FREE_BLOCKS] |= bit(block)
        c.table[sm, at.RESIDENT] -= 1
        c.clock[at.ENDED_BLOCKS] += 1
        c.clock[at.LAST_LEFT] = max(c.clock[at.LAST_LEFT], now)


def _leave_slot(c: Core, sm: int, slot: int, warp: int, now: int) -> None:
    schedulers = c.machine[at.SCHEDULERS]
    position = slot // schedulers
    row = scheduler_at(c, sm, slot % schedulers)
    set_cause(c, row, position, warp, at.EMPTY, now + 1)
    c.rows[warp, at.BLOCK] = at.NONE
    c.rows[warp, at.PRESENT] = 0
    c.table[sm, at.FREE_SLOTS] |= bit(slot)
    c.rows[row, at.DIRTY] &= ~bit(position)
    c.rows[row, at.ACTIVE] &= ~bit(position)
    c.rows[row, at.ELIGIBLE] &= ~bit(position)


def has_room(c: Core, sm: int) -> bool:
    """Whether the SM has room for another thread block."""
    return c.table[sm, at.FREE_BLOCKS] != 0 and count(c.table[sm, at.FREE_SLOTS]) >= c.machine[at.BLOCK_WARPS]


def place(c: Core, d: Any, sm: int, now: int) -> None:
    """Take the next thread block; there is one, and room for it."""
    warps = c.machine[at.BLOCK_WARPS]
    within = lowest(c.table[sm, at.FREE_BLOCKS])
    block = block_at(c, sm, within)
    c.table[sm, at.FREE_BLOCKS] ^= bit(within)
    c.table[sm, at.RESIDENT] += 1
    c.rows[block, at.OWN_BLOCK] = bit(within)
    c.rows[block, at.BLOCK_INDEX] = c.clock[at.NEXT_BLOCK]
    c.rows[block, at.WARPS_LEFT] = warps
    c.rows[block, at.HEADS_LEFT] = warps
    c.rows[block, at.WAITING] = 0
    c.rows[block, at.COMPLETE] = 0
    for number in range(at.BARRIERS):
        c.rows[block, at.ARRIVED + number] = 0
    ports.block_start(c, d, sm, now)
    start = (c.clock[at.NEXT_BLOCK] - c.clock[at.FIRST_LOADED]) * warps
    c.clock[at.NEXT_BLOCK] += 1
    for index in range(warps):
        slot = lowest(c.table[sm, at.FREE_SLOTS])
        c.table[sm, at.FREE_SLOTS] ^= bit(slot)
        _take_slot(c, d, sm, slot, block, start + index, now)


def _take_slot(c: Core, d: Any, sm: int, slot: int, block: int, start: int, now: int) -> None:
    """A warp takes its slot; its first instruction is fetched in the next cycle."""
    warp = warp_at(c, sm, slot)
    c.rows[warp, at.PRESENT] = 1
    c.rows[warp, at.BLOCK] = block
    begin = c.clock[at.STARTS] + 4 * start
    c.rows[warp, at.VISIT] = c.slab[begin]
    c.rows[warp, at.VISIT_END] = c.slab[begin + 1]
    c.rows[warp, at.ACCESS] = c.slab[begin + 2]
    c.rows[warp, at.RECORDS] = c.slab[begin + 2]
    c.rows[warp, at.RECORDS_END] = c.slab[begin + 3]
    c.rows[warp, at.HEAD] = -1
    c.rows[warp, at.BLOCK_END] = 0
    c.rows[warp, at.FLIGHT] = 0
    c.rows[warp, at.COPIES] = 0
    c.rows[warp, at.COPIED] = 0
    c.rows[warp, at.COPY_GROUPS] = 0
    c.rows[warp, at.FETCHED] = now + 1
    c.rows[warp, at.AGE] = c.table[sm, at.AGES]
    c.rows[warp, at.STOP] = at.GOING
    c.rows[warp, at.LAST_ISSUE] = -1
    c.rows[warp, at.SWAP_UNTIL] = 0
    c.rows[warp, at.ASKS_FROM] = 0
    c.rows[warp, at.AT_WORK] = now
    c.table[sm, at.AGES] += 1
    move_on(c, warp)
    schedulers = c.machine[at.SCHEDULERS]
    position = slot // schedulers
    row = scheduler_at(c, sm, slot % schedulers)
    c.rows[row, at.DIRTY] |= bit(position)
    ports.warp_start(c, d, sm, warp, now)
    if ports.is_two_level(c):
        if count(c.rows[row, at.ACTIVE]) < c.machine[at.ACTIVE_WARPS]:
            enter_active(c, d, sm, row, position, warp, now)
        else:
            c.rows[row, at.ELIGIBLE] |= bit(position)
    if c.rows[warp, at.HEAD] == at.NONE:
        c.rows[block, at.HEADS_LEFT] -= 1
        end_warp(c, sm, warp)
