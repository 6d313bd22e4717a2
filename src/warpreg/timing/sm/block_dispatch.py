"""Phase 4 of a cycle: thread blocks that have ended leave their SM; the SM receives the next one if there is room."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import blocks, causes, clock, code, machine, schedulers, sms, warps
from warpreg.timing.core.rows import block_at, scheduler_at, warp_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, NONE, BlockRow, SmRow, WarpRow
from warpreg.timing.sm.issue import move_on
from warpreg.timing.sm.wakeup import enter_active, set_cause
from warpreg.timing.sm.writeback import end_warp


def leave(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Report the warps that ended in this cycle, and free the slots of thread blocks that ended."""
    ended_warps = c.table[sm, sms.ENDED_WARPS]
    c.table[sm, sms.ENDED_WARPS] = 0
    while ended_warps != 0:
        slot = lowest(ended_warps)
        ended_warps ^= bit(slot)
        ports.warp_end(c, d, sm, warp_at(c, sm, slot), now)
    ended = c.table[sm, sms.BLOCK_ENDED]
    c.table[sm, sms.BLOCK_ENDED] = 0
    while ended != 0:
        block = lowest(ended)
        ended ^= bit(block)
        ports.block_end(c, d, sm, now)
        for slot in range(c.machine[machine.SLOTS]):
            warp = warp_at(c, sm, slot)
            if c.rows[warp, warps.BLOCK] == block_at(c, sm, block):
                _leave_slot(c, sm, slot, warp, now)
                ports.left_slot(c, d, warp)
        c.table[sm, sms.FREE_BLOCKS] |= bit(block)
        c.table[sm, sms.RESIDENT] -= 1
        c.clock[clock.ENDED_BLOCKS] += 1
        c.clock[clock.LAST_LEFT] = max(c.clock[clock.LAST_LEFT], now)


def _leave_slot(c: Core, sm: SmRow, slot: int, warp: WarpRow, now: int) -> None:
    scheduler_count = c.machine[machine.SCHEDULERS]
    position = slot // scheduler_count
    row = scheduler_at(c, sm, slot % scheduler_count)
    set_cause(c, row, position, warp, causes.EMPTY, now + 1)
    c.rows[warp, warps.BLOCK] = NONE
    c.rows[warp, warps.PRESENT] = 0
    c.table[sm, sms.FREE_SLOTS] |= bit(slot)
    c.rows[row, schedulers.DIRTY] &= ~bit(position)
    c.rows[row, schedulers.ACTIVE] &= ~bit(position)
    c.rows[row, schedulers.ELIGIBLE] &= ~bit(position)


def has_room(c: Core, sm: SmRow) -> bool:
    """Whether the SM has room for another thread block."""
    return c.table[sm, sms.FREE_BLOCKS] != 0 and count(c.table[sm, sms.FREE_SLOTS]) >= c.machine[machine.BLOCK_WARPS]


def place(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Place the next thread block; it exists, and there is room."""
    block_warps = c.machine[machine.BLOCK_WARPS]
    within = lowest(c.table[sm, sms.FREE_BLOCKS])
    block = block_at(c, sm, within)
    c.table[sm, sms.FREE_BLOCKS] ^= bit(within)
    c.table[sm, sms.RESIDENT] += 1
    c.rows[block, blocks.OWN] = bit(within)
    c.rows[block, blocks.INDEX] = c.clock[clock.NEXT_BLOCK]
    c.rows[block, blocks.WARPS_LEFT] = block_warps
    c.rows[block, blocks.HEADS_LEFT] = block_warps
    c.rows[block, blocks.WAITING] = 0
    c.rows[block, blocks.COMPLETE] = 0
    c.rows[block, blocks.ARRIVED_BY] = 0
    for number in range(code.BARRIERS):
        c.rows[block, blocks.ARRIVED + number] = 0
    ports.take_slots(c, d, sm, block)
    ports.block_start(c, d, sm, now)
    start = (c.clock[clock.NEXT_BLOCK] - c.clock[clock.FIRST_LOADED]) * block_warps
    c.clock[clock.NEXT_BLOCK] += 1
    for index in range(block_warps):
        slot = lowest(c.table[sm, sms.FREE_SLOTS])
        c.table[sm, sms.FREE_SLOTS] ^= bit(slot)
        _take_slot(c, d, sm, slot, block, start + index, now)


def _take_slot(c: Core, d: Any, sm: SmRow, slot: int, block: BlockRow, start: int, now: int) -> None:
    """Place a warp in its slot; its first instruction is fetched in the next cycle."""
    warp = warp_at(c, sm, slot)
    c.rows[warp, warps.PRESENT] = warps.HERE
    c.rows[warp, warps.BLOCK] = block
    begin = c.clock[clock.STARTS] + 4 * start
    c.rows[warp, warps.VISIT] = c.slab[begin]
    c.rows[warp, warps.VISIT_END] = c.slab[begin + 1]
    c.rows[warp, warps.ACCESS] = c.slab[begin + 2]
    c.rows[warp, warps.RECORDS] = c.slab[begin + 2]
    c.rows[warp, warps.RECORDS_END] = c.slab[begin + 3]
    c.rows[warp, warps.HEAD] = NONE
    c.rows[warp, warps.BLOCK_END] = 0
    c.rows[warp, warps.FLIGHT] = 0
    c.rows[warp, warps.COPIES] = 0
    c.rows[warp, warps.COPIED] = 0
    c.rows[warp, warps.COPY_GROUPS] = 0
    c.rows[warp, warps.FETCHED] = now + 1
    c.rows[warp, warps.HELD_FOR] = causes.FETCH
    c.rows[warp, warps.AGE] = c.table[sm, sms.AGES]
    c.rows[warp, warps.STOP] = warps.GOING
    c.rows[warp, warps.LAST_ISSUE] = -1
    c.rows[warp, warps.ASKED] = NEVER
    c.rows[warp, warps.SWAP_UNTIL] = 0
    c.rows[warp, warps.ASKS_FROM] = 0
    c.rows[warp, warps.AT_WORK] = now
    c.table[sm, sms.AGES] += 1
    move_on(c, warp)
    ports.fetch_first(c, sm, warp, now)
    scheduler_count = c.machine[machine.SCHEDULERS]
    position = slot // scheduler_count
    row = scheduler_at(c, sm, slot % scheduler_count)
    c.rows[row, schedulers.DIRTY] |= bit(position)
    ports.warp_start(c, d, sm, warp, now)
    ports.see_next(c, d, sm, warp, now)
    if ports.is_two_level(c):
        if count(c.rows[row, schedulers.ACTIVE]) < c.machine[machine.ACTIVE_WARPS]:
            enter_active(c, d, sm, row, position, warp, now)
        else:
            c.rows[row, schedulers.ELIGIBLE] |= bit(position)
    if c.rows[warp, warps.HEAD] == NONE:
        c.rows[block, blocks.HEADS_LEFT] -= 1
        end_warp(c, sm, warp)
