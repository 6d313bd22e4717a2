"""Loop over cycles: step an SM in cycles in which an event can occur, and skip the others."""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, machine, schedulers, sms
from warpreg.timing.core.columns import team as team_columns
from warpreg.timing.core.inflight import next_due
from warpreg.timing.core.prefetch import prefetch
from warpreg.timing.core.rows import following, scheduler_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.status import DONE, GOING, NEEDS_BLOCKS, NEEDS_ROOM, OVERFLOWED, STUCK
from warpreg.timing.core.team_words import processor_cycles
from warpreg.timing.core.typed import NEVER, NONE, SmRow
from warpreg.timing.sm import team
from warpreg.timing.sm.block_dispatch import has_room, leave, place
from warpreg.timing.sm.issue import release_barriers, take_turn
from warpreg.timing.sm.load_store_unit import expect_head, send_one
from warpreg.timing.sm.stall_account import blocked_warps
from warpreg.timing.sm.wakeup import fill_active, look_again
from warpreg.timing.sm.writeback import complete

COMMON, NEXT_BLOCK = team_columns.COMMON, team_columns.NEXT_BLOCK
PATIENCE = 4_000_000
"""Cycles without an issue after which a run counts as stuck."""


def run(c: Core, memory: Any, d: Any) -> int:
    """Run until all thread blocks are done (DONE), the core needs more thread blocks or more operations, no event
    remains (STUCK), or another thread has stopped (STOPPED).

    SMs interact through memory and through the dispatch of thread blocks.  Memory states how many cycles each SM may be
    stepped before the next SM, so the state of an SM stays in the caches of the host, and several threads may step SMs
    at the same time.
    """
    team.begin_window(c)
    while True:
        leads = c.clock[clock.MEMBER] == 0 and c.clock[clock.MEMBERS] > 1
        begin = _work_ahead(c, memory) if leads else 0
        status = _step_all(c, memory, d)
        if leads:
            team.note_stepping(c, processor_cycles() - begin)
        if status == DONE:
            status = team.arrive(c, _soonest(c, memory), ports.room_for_sms(memory))
        if status == DONE:
            status = _look_ahead(c, memory)
        if status != GOING:
            team.stop(c)
            return status
        team.begin_window(c)


def _work_ahead(c: Core, memory: Any) -> int:
    """In the leader: work of memory that other threads do not wait for.  Returns when it ends, in processor cycles."""
    begin = processor_cycles()
    ports.work_ahead(memory)
    end = processor_cycles()
    team.note_ahead(c, end - begin)
    return end


def _look_ahead(c: Core, memory: Any) -> int:
    """Let memory look ahead while no SM is stepped; returns GOING, or why the run ends."""
    if team.ended_blocks(c) == c.clock[clock.TOTAL_BLOCKS]:
        return DONE
    before, soonest = c.clock[clock.UNTIL], team.soonest_of_all(c)
    until = ports.look_ahead(memory, soonest, before)
    if until >= NEVER or until - team.last_progress(c) > PATIENCE:
        return STUCK
    if c.machine[machine.IN_STEP] != 0:
        until = min(until, max(before, _soonest(c, memory)) + 1)
    team.share_sms(c)
    team.go_on(c, team.end_of_window(c, max(before, soonest), until))
    return GOING


def _soonest(c: Core, memory: Any) -> int:
    """The earliest cycle in which an SM of this thread must be stepped, as far as known."""
    soonest = NEVER
    for sm in team.own_sms(c):
        soonest = min(soonest, c.table[sm, sms.DUE], ports.next_return(memory, sm))
    return soonest


def _step_all(c: Core, memory: Any, d: Any) -> int:
    """Step each SM of this thread up to UNTIL; SMs with room receive thread blocks by cycle, then by SM."""
    member = c.clock[clock.MEMBER]
    sm, end = team.first_sm(c, member), team.first_sm(c, member + 1)
    is_first_pass = True
    c.clock[clock.REST] = NONE
    while True:
        status = DONE
        if not is_first_pass and c.table[sm, sms.TAKES_BLOCK_AT] != NONE:
            status = team.await_turn(c, sm)
            if status == DONE:
                status = _place(c, d, sm)
        if status == DONE:
            status = _step_one(c, memory, d, sm)
        if status == DONE and c.machine[machine.IN_STEP] != 0 and c.table[sm, sms.TAKES_BLOCK_AT] != NONE:
            status = _place(c, d, sm)
            c.turns[sm] = NEVER
        if status != DONE:
            return status
        if is_first_pass:
            sm = following(sm)
            is_first_pass = sm < end
        if not is_first_pass:
            sm = team.next_in_turn(c)
            if sm == NONE:
                return DONE


@noinline
def _place(c: Core, d: Any, sm: SmRow) -> int:
    """Dispatch a thread block, if any is left, to the SM whose turn it is."""
    c.clock[clock.NEXT_BLOCK] = c.team[COMMON, NEXT_BLOCK]
    if c.clock[clock.NEXT_BLOCK] != c.clock[clock.TOTAL_BLOCKS]:
        if c.clock[clock.NEXT_BLOCK] == c.clock[clock.LOADED_BLOCKS]:
            return NEEDS_BLOCKS
        if c.clock[clock.FREE_OPS] < c.clock[clock.MIN_OPS]:
            return NEEDS_ROOM
        now = c.table[sm, sms.TAKES_BLOCK_AT]
        place(c, d, sm, now)
        ports.queue_extras(c, sm)
        c.table[sm, sms.DUE] = now + 1
        c.team[COMMON, NEXT_BLOCK] = c.clock[clock.NEXT_BLOCK]
    c.table[sm, sms.TAKES_BLOCK_AT] = NONE
    return DONE


def _step_one(c: Core, memory: Any, d: Any, sm: SmRow) -> int:
    """Step an SM in cycles with events, up to UNTIL, until it waits for its turn to receive a thread block, or until
    other SMs must be stepped first.
    """
    c.turns[sm] = NEVER
    while c.table[sm, sms.TAKES_BLOCK_AT] == NONE:
        back = ports.next_return(memory, sm)
        now = min(c.table[sm, sms.DUE], back)
        if now >= c.clock[clock.UNTIL]:
            return DONE
        if c.clock[clock.FREE_OPS] < c.clock[clock.MIN_OPS]:
            return NEEDS_ROOM
        if team.others_are_first(c, sm, now):
            c.turns[sm] = team.turn_of(sm, now)
            return DONE
        if back <= now:
            ports.settle(memory, sm, now)
            prefetch(c.rows, ports.awaited(memory, sm))
            if c.table[sm, sms.QUEUE_AT] == NEVER:
                c.table[sm, sms.QUEUE_AT] = now
            ports.memory_answers(c, sm, now)
        c.table[sm, sms.DUE] = _step(c, memory, d, sm, now)
        c.clock[clock.STEPS_TAKEN] += 1
        if c.clock[clock.OVERFLOW] != 0:
            return OVERFLOWED
        if c.clock[clock.NEXT_BLOCK] != c.clock[clock.TOTAL_BLOCKS] and has_room(c, sm):
            c.table[sm, sms.TAKES_BLOCK_AT] = now
    c.turns[sm] = team.turn_of(sm, c.table[sm, sms.TAKES_BLOCK_AT])
    return DONE


def _step(c: Core, memory: Any, d: Any, sm: SmRow, now: int) -> int:
    """Step an SM by one cycle; returns the next cycle in which it must be stepped, apart from returns of memory."""
    scheduler_count = c.machine[machine.SCHEDULERS]
    gap = now - 1 - c.table[sm, sms.STEPPED]
    if gap > 0:
        for scheduler in range(scheduler_count):
            if c.rows[scheduler_at(c, sm, scheduler), schedulers.READY] != 0:
                blocked_warps(c, sm, scheduler, gap, now - 1)
    c.table[sm, sms.STEPPED] = now
    complete(c, memory, d, sm, now)
    ports.queue_extras(c, sm)
    send_one(c, memory, d, sm, now)
    later = ports.collect(c, d, sm, now)
    expect_head(c, memory, sm)
    ports.queue_extras(c, sm)
    again = _issue_phase(c, d, sm, now)
    ports.queue_extras(c, sm)
    later = min(later, c.table[sm, sms.RETRY_AT])
    if c.table[sm, sms.ENDED_WARPS] != 0:
        leave(c, d, sm, now)
        ports.queue_extras(c, sm)
        again = again or _has_changed(c, sm)
    if again or c.machine[machine.EVERY_CYCLE] != 0 or ports.is_collecting(c, sm) or ports.sees_every_cycle(c, sm):
        return now + 1
    if c.table[sm, sms.QUEUED] != 0:
        later = min(later, c.table[sm, sms.QUEUE_AT])
    return min(later, ports.traffic_at(c, sm), next_due(c, sm, now))


def _issue_phase(c: Core, d: Any, sm: SmRow, now: int) -> bool:
    """Phase 3; returns whether a ready warp did not issue, or a warp changed."""
    scheduler_count = c.machine[machine.SCHEDULERS]
    c.table[sm, sms.RETRY_AT] = NEVER
    for scheduler in range(scheduler_count):
        if c.rows[scheduler_at(c, sm, scheduler), schedulers.DIRTY] != 0:
            look_again(c, d, sm, scheduler, now)
    ports.turns_start(c, d, sm, now)
    again = False
    for scheduler in range(scheduler_count):
        if take_turn(c, d, sm, scheduler, now):
            again = True
    if c.table[sm, sms.CHECK_BARRIER] != 0:
        release_barriers(c, sm, now)
    if ports.is_two_level(c):
        for scheduler in range(scheduler_count):
            fill_active(c, d, sm, scheduler, now)
    ports.turns_end(c, d, sm, now)
    return again or _has_changed(c, sm)


def _has_changed(c: Core, sm: SmRow) -> bool:
    """Whether the state of a warp may have changed since its scheduler last looked at it."""
    dirty = 0
    for scheduler in range(c.machine[machine.SCHEDULERS]):
        dirty |= c.rows[scheduler_at(c, sm, scheduler), schedulers.DIRTY]
    return dirty != 0
