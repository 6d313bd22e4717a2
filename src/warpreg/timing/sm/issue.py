"""Phase 3 of a cycle: each scheduler picks a warp, whose head issues."""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import GO
from warpreg.timing.core import access_record as record
from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest, round_after, round_from
from warpreg.timing.core.columns import Core
from warpreg.timing.core.inflight import mark, take_op, wake_at
from warpreg.timing.core.prefetch import HOST_LINE, soon
from warpreg.timing.core.rows import block_at, scheduler_at, warp_at, warp_of
from warpreg.timing.sm.stall_account import blocked_warps
from warpreg.timing.sm.wakeup import know_eligible, slowest, take_from_ready, watch_for_stall
from warpreg.timing.sm.writeback import end_warp


def take_turn(c: Core, d: Any, sm: int, scheduler: int, now: int) -> bool:
    """A scheduler's turn: issue what the policy picks, account for all who are ready.

    Returns whether a warp is left that could issue in the next cycle as far as is known now.
    """
    row = scheduler_at(c, sm, scheduler)
    ready = c.rows[row, at.READY_WARPS]
    if ready == 0:
        return False
    able = ready & ~blocked_warps(c, sm, scheduler, 1, now)
    refused = 0
    issued = 0
    left = able
    while left != 0:
        position = _pick(c, sm, row, scheduler, ports.prefer(c, d, sm, scheduler, left, now))
        left ^= bit(position)
        warp = warp_of(c, sm, scheduler, position)
        token = ports.admit(c, d, sm, warp, c.rows[warp, at.HEAD], now)
        if token == GO:
            _issue_from(c, d, sm, row, scheduler, position, warp, now)
            issued = 1
            break
        refused += 1
        _wait_for_token(c, row, position, warp, token)
    c.rows[row + c.machine[at.TO_ACCOUNT], at.ISSUED] += issued
    c.rows[row + c.machine[at.TO_ACCOUNT], at.TOKEN_WAIT] += refused
    c.rows[row + c.machine[at.TO_ACCOUNT], at.NOT_SELECTED] += count(able) - issued - refused
    return left != 0


def _pick(c: Core, sm: int, row: int, scheduler: int, able: int) -> int:
    """The position of the warp that goes first."""
    policy = c.machine[at.POLICY]
    last = c.rows[row, at.LAST]
    if policy == at.LRR:
        return round_after(able, last)
    if policy == at.GREEDY:
        return round_from(able, last)
    if policy == at.GTO and able & bit(last) != 0 and c.rows[warp_of(c, sm, scheduler, last), at.LAST_ISSUE] >= 0:
        return last
    oldest = lowest(able)
    youth = c.rows[warp_of(c, sm, scheduler, oldest), at.AGE]
    rest = able ^ bit(oldest)
    while rest != 0:
        other = lowest(rest)
        rest ^= bit(other)
        age = c.rows[warp_of(c, sm, scheduler, other), at.AGE]
        if age < youth:
            oldest = other
            youth = age
    return oldest


def _wait_for_token(c: Core, row: int, position: int, warp: int, token: int) -> None:
    """Out of the ready warps until a hook wakes the token."""
    take_from_ready(c, row, warp, bit(position))
    c.rows[row, at.DIRTY] |= bit(position)
    c.rows[warp, at.STOP] = at.AT_TOKEN
    c.rows[warp, at.TOKEN] = token


def _issue_from(c: Core, d: Any, sm: int, row: int, scheduler: int, position: int, warp: int, now: int) -> None:
    """Issue the head of a warp, and with dual issue what may follow it."""
    take_from_ready(c, row, warp, bit(position))
    c.rows[row, at.DIRTY] |= bit(position)
    c.rows[row, at.LAST] = position
    c.rows[warp, at.LAST_ISSUE] = now
    watch_for_stall(c, sm, warp, now)
    pipe = at.NONE
    for _ in range(c.machine[at.WIDTH]):
        if pipe != at.NONE and not _may_follow(c, d, sm, row, scheduler, warp, pipe, now):
            break
        pipe = c.code[c.rows[warp, at.HEAD], at.PIPE]
        _issue(c, d, sm, row, scheduler, warp, pipe, now)


def _may_follow(c: Core, d: Any, sm: int, row: int, scheduler: int, warp: int, pipe: int, now: int) -> bool:
    """Whether the new head may issue in the same cycle as the one before it, which went to ``pipe``."""
    head = c.rows[warp, at.HEAD]
    if pipe == at.CTRL or head == at.NONE or c.rows[warp, at.STOP] != at.GOING:
        return False
    other = c.code[head, at.PIPE]
    if other == pipe or slowest(c, warp) >= 0:
        return False
    if other != at.CTRL and ports.refuses(c, sm, row, other, now):
        return False
    token = ports.admit(c, d, sm, warp, head, now)
    if token != GO:
        c.rows[warp, at.STOP] = at.AT_TOKEN
        c.rows[warp, at.TOKEN] = token
    return token == GO


def _issue(c: Core, d: Any, sm: int, row: int, scheduler: int, warp: int, pipe: int, now: int) -> None:
    pc = c.rows[warp, at.HEAD]
    c.clock[at.INSTRUCTIONS] += 1
    c.clock[at.LAST_PROGRESS] = now
    op = take_op(c, sm, warp, pc)
    c.rows[op, at.OP_SEQUENCE] = c.table[sm, at.SEQ]
    c.table[sm, at.SEQ] += 1
    c.rows[op, at.OP_ISSUED] = now
    c.rows[op, at.OP_MASK] = c.rows[warp, at.MASK]
    c.rows[op, at.OP_RECORD] = at.NONE
    if c.code[pc, at.KIND] != at.NO_ACCESS:
        c.rows[op, at.OP_RECORD] = c.rows[warp, at.ACCESS]
        following = c.rows[warp, at.ACCESS] + record_words(c, c.rows[warp, at.ACCESS])
        c.rows[warp, at.ACCESS] = following
        soon(c.slab, following)
    c.rows[warp, at.FLIGHT] += 1
    if c.code[pc, at.FLAGS] & at.COPIES_ONE != 0:
        c.rows[warp, at.COPIES] += 1
    ports.plan_reads(c, d, sm, warp, pc, op, now)
    ports.plan_write(c, d, sm, warp, pc, op, now)
    move_on(c, warp)
    if pipe == at.CTRL:
        _control(c, sm, warp, pc, op, now)
    else:
        _enter_scoreboard(c, warp, pc, op)
        ports.take(c, d, sm, row, pipe, pc, op, now)
    if c.rows[warp, at.HEAD] == at.NONE:
        c.rows[c.rows[warp, at.BLOCK], at.HEADS_LEFT] -= 1
        c.table[sm, at.CHECK_BARRIER] |= c.rows[c.rows[warp, at.BLOCK], at.OWN_BLOCK]


def record_words(c: Core, place: int) -> int:
    """Length of the access record at a place."""
    head = c.slab[place]
    space = head >> record.SPACE_SHIFT & 255
    if space == record.SHARED or space == record.CONSTANT:
        return record.HEADER_WORDS
    return record.HEADER_WORDS + (head >> record.TRANSACTIONS_SHIFT)


def move_on(c: Core, warp: int) -> None:
    """The next instruction of the warp's path becomes its head, NONE after the last."""
    head = c.rows[warp, at.HEAD] + 1
    c.rows[warp, at.SUSPENDED] = 0
    while head == c.rows[warp, at.BLOCK_END]:
        visit = c.rows[warp, at.VISIT]
        if visit == c.rows[warp, at.VISIT_END]:
            head = at.NONE
            break
        c.rows[warp, at.VISIT] = visit + 1
        soon(c.slab, visit + HOST_LINE)
        word = c.slab[visit]
        block = word >> 32
        c.rows[warp, at.MASK] = word & 0xFFFFFFFF
        c.rows[warp, at.BLOCK_END] = c.lists[c.machine[at.FIRST_PCS] + block, 1]
        head = c.lists[c.machine[at.FIRST_PCS] + block, 0]
    c.rows[warp, at.HEAD] = head


def _control(c: Core, sm: int, warp: int, pc: int, op: int, now: int) -> None:
    """Branches, barriers and fences are complete when they issue."""
    c.rows[op, at.OP_NEXT] = c.clock[at.FREE_OP]
    c.clock[at.FREE_OP] = op
    c.clock[at.FREE_OPS] += 1
    c.rows[warp, at.FLIGHT] -= 1
    flags = c.code[pc, at.FLAGS]
    block = c.rows[warp, at.BLOCK]
    if flags >> at.COUNT_SHIFT != 0:
        _arrive(c, sm, block, flags)
    if c.rows[warp, at.HEAD] == at.NONE:
        if c.rows[warp, at.FLIGHT] == 0:
            end_warp(c, sm, warp)
        return
    fetched = now + c.machine[at.CTRL_LATENCY]
    c.rows[warp, at.FETCHED] = fetched
    if fetched > now + 1:
        wake_at(c, sm, warp, fetched, now)
    if flags & at.BARRIER != 0:
        c.rows[warp, at.STOP] = at.AT_BARRIER
        c.rows[warp, at.TOKEN] = flags >> at.NUMBER_SHIFT & 15 if flags >> at.COUNT_SHIFT != 0 else at.NONE
        c.rows[block, at.WAITING] += 1
        c.table[sm, at.CHECK_BARRIER] |= c.rows[block, at.OWN_BLOCK]
    if flags & at.FENCE != 0:
        c.rows[warp, at.STOP] = at.AT_FENCE
        c.rows[warp, at.AWAITED] = at.NONE
    if flags & at.COMMITS != 0:
        group = c.rows[warp, at.COPY_GROUPS]
        c.rows[warp, at.COPIES_AT + group % at.COMMITS_KEPT] = c.rows[warp, at.COPIES]
        c.rows[warp, at.COPY_GROUPS] = group + 1
    if flags & at.AWAITS != 0:
        group = c.rows[warp, at.COPY_GROUPS] - 1 - (flags >> at.NUMBER_SHIFT & 15)
        c.rows[warp, at.STOP] = at.AT_FENCE
        c.rows[warp, at.AWAITED] = c.rows[warp, at.COPIES_AT + group % at.COMMITS_KEPT] if group >= 0 else 0


def _arrive(c: Core, sm: int, block: int, flags: int) -> None:
    """A warp comes to a barrier with a count."""
    number = flags >> at.NUMBER_SHIFT & 15
    c.rows[block, at.ARRIVED + number] += 1
    if c.rows[block, at.ARRIVED + number] >= flags >> at.COUNT_SHIFT:
        c.rows[block, at.COMPLETE] |= bit(number)
        c.table[sm, at.CHECK_BARRIER] |= c.rows[block, at.OWN_BLOCK]


def _enter_scoreboard(c: Core, warp: int, pc: int, op: int) -> None:
    words = c.machine[at.WORDS]
    kind = c.code[pc, at.WAIT_CLASS]
    c.rows[op, at.OP_LEFT] = c.code[pc, at.WRITES_END] - c.code[pc, at.WRITES]
    for word in range(words):
        written = c.code[pc, at.NEED + words + word]
        c.rows[warp, at.BUSY + word] |= written
        if kind != 0:
            c.rows[warp, at.BUSY + at.SLOW_SET * words + word] |= written
            c.rows[warp, at.BUSY + (at.SLOW_SET + (kind & at.CLASS_BITS)) * words + word] |= written
            if kind & at.LONG_BIT != 0:
                c.rows[warp, at.BUSY + at.LONG_SET * words + word] |= written


def release_barriers(c: Core, sm: int) -> None:
    """At the end of phase 3: let the warps go on whose barrier is complete, or all of a thread block if each of them
    waits at some barrier or has issued everything.
    """
    blocks = c.table[sm, at.CHECK_BARRIER]
    c.table[sm, at.CHECK_BARRIER] = 0
    while blocks != 0:
        block = block_at(c, sm, lowest(blocks))
        blocks ^= bit(lowest(blocks))
        complete = c.rows[block, at.COMPLETE]
        if complete != 0:
            c.rows[block, at.COMPLETE] = 0
            _release(c, sm, block, complete)
        if c.rows[block, at.WAITING] == c.rows[block, at.HEADS_LEFT] and c.rows[block, at.WAITING] > 0:
            _release(c, sm, block, at.NONE)


def _release(c: Core, sm: int, block: int, complete: int) -> None:
    """The warps at these barriers, or at any (NONE); those barriers begin anew."""
    for number in range(at.BARRIERS):
        if complete != at.NONE and complete >> number & 1 != 0:
            c.rows[block, at.ARRIVED + number] = 0
    for slot in range(c.machine[at.SLOTS]):
        warp = warp_at(c, sm, slot)
        if c.rows[warp, at.BLOCK] == block and c.rows[warp, at.STOP] == at.AT_BARRIER:
            number = c.rows[warp, at.TOKEN]
            if complete == at.NONE or (number != at.NONE and complete >> number & 1 != 0):
                if number != at.NONE:
                    c.rows[block, at.ARRIVED + number] = 0
                c.rows[block, at.WAITING] -= 1
                _go_on(c, warp)


def _go_on(c: Core, warp: int) -> None:
    """A warp is released from its barrier."""
    c.rows[warp, at.STOP] = at.GOING
    mark(c, warp)
    if ports.is_two_level(c):
        know_eligible(c, warp, slowest(c, warp))
