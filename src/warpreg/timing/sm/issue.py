"""Phase 3 of a cycle: each scheduler selects a warp, whose head issues."""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import out_of_line
from warpreg.designs.interface.plan import GO
from warpreg.gpu import pipes, scheduling
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest, round_after, round_from
from warpreg.timing.core.columns import blocks, causes, clock, code, machine, ops, schedulers, sms, warps
from warpreg.timing.core.inflight import hold, mark, take_op
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.prefetch import HOST_LINE, prefetch
from warpreg.timing.core.rows import account_of, block_at, scheduler_at, warp_at, warp_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BlockRow, OpRow, Pc, SchedulerRow, SmRow, WarpRow
from warpreg.timing.sm.stall_account import blocked_warps
from warpreg.timing.sm.wakeup import know_eligible, slowest, take_from_ready, watch_for_stall
from warpreg.timing.sm.writeback import end_warp


@port("a recording")
def take_turn(c: Core, d: Any, sm: SmRow, scheduler: int, now: int) -> bool:
    """One turn of a scheduler: issue from the selected warp, and account for all ready warps.

    Returns whether another warp could issue in the next cycle, as far as known now.
    """
    row = scheduler_at(c, sm, scheduler)
    ready = c.rows[row, schedulers.READY]
    if ready == 0:
        return False
    able = ready & ~blocked_warps(c, sm, scheduler, 1, now)
    refused = 0
    issued = 0
    lacking = 0
    left = able
    while left != 0:
        position = pick(c, d, sm, row, scheduler, ports.prefer(c, d, sm, scheduler, left, now), now)
        if position == NONE:
            break
        left ^= bit(position)
        warp = warp_of(c, sm, scheduler, position)
        if ports.lacks_constant(c, sm, row, scheduler, warp, now):
            lacking = 1
            take_from_ready(c, row, warp, bit(position))
            c.rows[row, schedulers.DIRTY] |= bit(position)
            break
        token = ports.admit(c, d, sm, warp, c.rows[warp, warps.HEAD], now)
        if token == GO:
            _issue_from(c, d, sm, row, scheduler, position, warp, now)
            issued = 1
            break
        refused += 1
        take_from_ready(c, row, warp, bit(position))
        c.rows[row, schedulers.DIRTY] |= bit(position)
        ports.refused(c, sm, warp, token, now)
    account = account_of(c, row)
    c.rows[account, causes.ISSUED] += issued
    c.rows[account, causes.TOKEN] += refused
    c.rows[account, causes.OPERANDS] += lacking
    c.rows[account, causes.NOT_SELECTED] += count(able) - issued - refused - lacking
    return left != 0


@port("the hook choose")
def pick(c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, able: int, now: int) -> int:
    """The position of the warp that the policy selects, NONE if it selects none."""
    policy = c.machine[machine.POLICY]
    last = c.rows[row, schedulers.LAST]
    if policy == scheduling.LRR:
        return round_after(able, last)
    if policy == scheduling.GREEDY:
        return round_from(able, last)
    if (
        (policy == scheduling.GTO or policy == scheduling.GTY)
        and able & bit(last) != 0
        and c.rows[warp_of(c, sm, scheduler, last), warps.LAST_ISSUE] >= 0
    ):
        return last
    first = lowest(able)
    before = _rank(c, sm, scheduler, first, policy)
    rest = able ^ bit(first)
    while rest != 0:
        other = lowest(rest)
        rest ^= bit(other)
        rank = _rank(c, sm, scheduler, other, policy)
        if rank < before:
            first = other
            before = rank
    return first


def _rank(c: Core, sm: SmRow, scheduler: int, position: int, policy: int) -> int:
    """The lowest goes first: the oldest warp, or the youngest one."""
    age = c.rows[warp_of(c, sm, scheduler, position), warps.AGE]
    return -age if policy == scheduling.GTY else age


def _issue_from(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, position: int, warp: WarpRow, now: int
) -> None:
    """Issue the head of a warp and, with dual issue, a second instruction."""
    take_from_ready(c, row, warp, bit(position))
    c.rows[row, schedulers.DIRTY] |= bit(position)
    c.rows[row, schedulers.LAST] = position
    c.rows[warp, warps.LAST_ISSUE] = now
    watch_for_stall(c, sm, warp, now)
    pipe = NONE
    for _ in range(c.machine[machine.WIDTH]):
        if pipe != NONE and not _may_follow(c, d, sm, row, scheduler, warp, pipe, now):
            break
        pipe = c.code[c.rows[warp, warps.HEAD], code.PIPE]
        issue_head(c, d, sm, row, scheduler, warp, pipe, now)


def _may_follow(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, pipe: int, now: int
) -> bool:
    """Whether the new head may issue in the same cycle as the previous one, which uses ``pipe``."""
    head = c.rows[warp, warps.HEAD]
    if pipe == pipes.CTRL or head == NONE or c.rows[warp, warps.STOP] != warps.GOING:
        return False
    other = c.code[head, code.PIPE]
    if other == pipe or slowest(c, warp) >= 0:
        return False
    if other != pipes.CTRL and (ports.refuses(c, sm, row, other, now) or ports.is_full(c, warp)):
        return False
    token = ports.admit(c, d, sm, warp, head, now)
    if token != GO:
        ports.refused(c, sm, warp, token, now)
    return token == GO


@port("its twin out of line, or a recording")
def issue_head(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, pipe: int, now: int
) -> None:
    """Issue the head of a warp to its pipe."""
    pc = c.rows[warp, warps.HEAD]
    c.clock[clock.WARP_INSTRUCTIONS] += 1
    c.clock[clock.LAST_PROGRESS] = now
    op = take_op(c, sm, warp, pc)
    c.rows[op, ops.SEQUENCE] = c.table[sm, sms.SEQ]
    c.table[sm, sms.SEQ] += 1
    c.rows[op, ops.ISSUED] = now
    c.rows[op, ops.MASK] = c.rows[warp, warps.MASK]
    c.rows[op, ops.RECORD] = NONE
    if c.code[pc, code.KIND] != record.NO_ACCESS:
        c.rows[op, ops.RECORD] = c.rows[warp, warps.ACCESS]
        following = c.rows[warp, warps.ACCESS] + record_words(c, c.rows[warp, warps.ACCESS])
        c.rows[warp, warps.ACCESS] = following
        prefetch(c.slab, following)
    c.rows[warp, warps.FLIGHT] += 1
    if c.code[pc, code.FLAGS] & code.COPIES_ONE != 0:
        c.rows[warp, warps.COPIES] += 1
    ports.take_widths(c, d, warp, pc, op)
    ports.begin_lookups(c, op, now)
    ports.plan_reads(c, d, sm, warp, pc, op, now)
    ports.plan_write(c, d, sm, warp, pc, op, now)
    ports.issued(c, d, sm, warp, pc, op, now)
    move_on(c, warp)
    if pipe == pipes.CTRL:
        ports.collected_at_once(c, d, sm, op, now)
        ports.produced(c, d, sm, op, now)
        _control(c, sm, warp, pc, op, now)
    else:
        enter_scoreboard(c, warp, pc, op)
        ports.take(c, d, sm, row, pipe, pc, op, now)
    ports.stall(c, sm, warp, pc, now)
    ports.fetch_next(c, sm, warp, pc, now)
    ports.see_next(c, d, sm, warp, now)
    if c.rows[warp, warps.HEAD] == NONE:
        c.rows[c.rows[warp, warps.BLOCK], blocks.HEADS_LEFT] -= 1
        c.table[sm, sms.CHECK_BARRIER] |= c.rows[c.rows[warp, warps.BLOCK], blocks.OWN]


stands_for(issue_head, when.LARGE_HOOKS)(out_of_line(issue_head))


@port("hooks that ask for addresses of lanes")
def record_words(c: Core, access: int) -> int:
    """Length in words of the access record at ``access``."""
    head = c.slab[access]
    space = head >> record.SPACE_SHIFT & 255
    if space == record.SHARED or space == record.CONSTANT:
        return record.HEADER_WORDS
    return record.HEADER_WORDS + (head >> record.TRANSACTIONS_SHIFT)


def move_on(c: Core, warp: WarpRow) -> None:
    """Advance the head to the next instruction of the warp's path, NONE after the last."""
    head: Any = c.rows[warp, warps.HEAD] + 1
    if ports.is_two_level(c):
        c.rows[warp, warps.SUSPENDED] = 0
    while head == c.rows[warp, warps.BLOCK_END]:
        visit = c.rows[warp, warps.VISIT]
        if visit == c.rows[warp, warps.VISIT_END]:
            head = NONE
            break
        c.rows[warp, warps.VISIT] = visit + 1
        prefetch(c.slab, visit + HOST_LINE)
        word = c.slab[visit]
        block = word >> 32
        c.rows[warp, warps.MASK] = word & 0xFFFFFFFF
        c.rows[warp, warps.BLOCK_END] = c.lists[c.machine[machine.FIRST_PCS] + block, 1]
        head = c.lists[c.machine[machine.FIRST_PCS] + block, 0]
    c.rows[warp, warps.HEAD] = head


def _control(c: Core, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """Complete a branch, barrier or fence at issue."""
    c.rows[op, ops.NEXT] = c.clock[clock.FREE_OP]
    c.clock[clock.FREE_OP] = op
    c.clock[clock.FREE_OPS] += 1
    c.rows[warp, warps.FLIGHT] -= 1
    flags = c.code[pc, code.FLAGS]
    block = c.rows[warp, warps.BLOCK]
    if flags & code.BARRIER != 0 or flags >> code.COUNT_SHIFT != 0:
        _pass_barrier_unit(c, sm, block, now)
    if flags >> code.COUNT_SHIFT != 0:
        _arrive(c, sm, block, flags)
    if c.rows[warp, warps.HEAD] == NONE:
        if c.rows[warp, warps.FLIGHT] == 0 and ports.nothing_away(c, warp):
            end_warp(c, sm, warp)
        return
    hold(c, sm, warp, now + c.machine[machine.CTRL_LATENCY], ports.unfetched(c), now)
    if flags & code.BARRIER != 0:
        c.rows[warp, warps.STOP] = warps.AT_BARRIER
        c.rows[warp, warps.TOKEN] = flags >> code.NUMBER_SHIFT & 15 if flags >> code.COUNT_SHIFT != 0 else NONE
        c.rows[block, blocks.WAITING] += 1
        c.table[sm, sms.CHECK_BARRIER] |= c.rows[block, blocks.OWN]
    if flags & code.FENCE != 0:
        c.rows[warp, warps.STOP] = warps.AT_FENCE
        c.rows[warp, warps.AWAITED] = NONE
    if flags & code.COMMITS != 0:
        group = c.rows[warp, warps.COPY_GROUPS]
        c.rows[warp, warps.COPIES_AT + group % warps.COMMIT_SLOTS] = c.rows[warp, warps.COPIES]
        c.rows[warp, warps.COPY_GROUPS] = group + 1
    if flags & code.AWAITS != 0:
        group = c.rows[warp, warps.COPY_GROUPS] - 1 - (flags >> code.NUMBER_SHIFT & 15)
        c.rows[warp, warps.STOP] = warps.AT_FENCE
        c.rows[warp, warps.AWAITED] = c.rows[warp, warps.COPIES_AT + group % warps.COMMIT_SLOTS] if group >= 0 else 0


def _pass_barrier_unit(c: Core, sm: SmRow, block: BlockRow, now: int) -> None:
    """The barrier unit of the SM takes one arrival after the other."""
    passed = max(c.table[sm, sms.BARRIER_FREE], now) + c.machine[machine.BARRIER_INTERVAL]
    c.table[sm, sms.BARRIER_FREE] = passed
    c.rows[block, blocks.ARRIVED_BY] = passed


def _arrive(c: Core, sm: SmRow, block: BlockRow, flags: int) -> None:
    """Count a warp at a barrier with a count."""
    number = flags >> code.NUMBER_SHIFT & 15
    c.rows[block, blocks.ARRIVED + number] += 1
    if c.rows[block, blocks.ARRIVED + number] >= flags >> code.COUNT_SHIFT:
        c.rows[block, blocks.COMPLETE] |= bit(number)
        c.table[sm, sms.CHECK_BARRIER] |= c.rows[block, blocks.OWN]


@port("control codes")
def enter_scoreboard(c: Core, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    """The result cells of an instruction enter the scoreboard."""
    words = c.machine[machine.WORDS]
    kind = c.code[pc, code.WAIT_CLASS]
    c.rows[op, ops.LEFT] = c.code[pc, code.WRITES_END] - c.code[pc, code.WRITES]
    for word in range(words):
        written = c.code[pc, code.NEED + words + word]
        c.rows[warp, warps.BUSY + word] |= written
        if kind != 0:
            c.rows[warp, warps.BUSY + (kind & code.CLASS_BITS) * words + word] |= written
            if kind & code.LONG_BIT != 0:
                c.rows[warp, warps.BUSY + warps.LONG_SET * words + word] |= written


def release_barriers(c: Core, sm: SmRow, now: int) -> None:
    """Release warps at the end of phase 3: those at a complete barrier, or all of a thread block if each of its warps
    waits at a barrier or has issued everything.
    """
    unchecked = c.table[sm, sms.CHECK_BARRIER]
    c.table[sm, sms.CHECK_BARRIER] = 0
    while unchecked != 0:
        block = block_at(c, sm, lowest(unchecked))
        unchecked ^= bit(lowest(unchecked))
        complete = c.rows[block, blocks.COMPLETE]
        if complete != 0:
            c.rows[block, blocks.COMPLETE] = 0
            _release(c, sm, block, complete, now)
        if c.rows[block, blocks.WAITING] == c.rows[block, blocks.HEADS_LEFT] and c.rows[block, blocks.WAITING] > 0:
            _release(c, sm, block, NONE, now)


def _release(c: Core, sm: SmRow, block: BlockRow, complete: int, now: int) -> None:
    """Release the warps at the barriers ``complete``, or at any barrier (NONE); these barriers restart."""
    for number in range(code.BARRIERS):
        if complete != NONE and complete >> number & 1 != 0:
            c.rows[block, blocks.ARRIVED + number] = 0
    for slot in range(c.machine[machine.SLOTS]):
        warp = warp_at(c, sm, slot)
        if c.rows[warp, warps.BLOCK] == block and c.rows[warp, warps.STOP] == warps.AT_BARRIER:
            number = c.rows[warp, warps.TOKEN]
            if complete == NONE or (number != NONE and complete >> number & 1 != 0):
                if number != NONE:
                    c.rows[block, blocks.ARRIVED + number] = 0
                c.rows[block, blocks.WAITING] -= 1
                _go_on(c, sm, block, warp, now)


def _go_on(c: Core, sm: SmRow, block: BlockRow, warp: WarpRow, now: int) -> None:
    """Release a warp from its barrier."""
    c.rows[warp, warps.STOP] = warps.GOING
    hold(c, sm, warp, c.rows[block, blocks.ARRIVED_BY] + c.machine[machine.BARRIER_LATENCY], causes.BARRIER, now)
    mark(c, warp)
    if ports.is_two_level(c):
        know_eligible(c, warp, slowest(c, warp))
