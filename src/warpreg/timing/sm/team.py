"""Several threads step the SMs of one run, with the same results as one.

Each thread steps consecutive SMs.  They interact through memory and through the dispatch of thread blocks only:

- Memory states up to which cycle all answers are known.  All threads step their SMs up to there and *meet*; one of
  them, the leader, then lets memory look ahead.
- Thread blocks are dispatched by cycle, then by SM: a *turn*.  A thread states a bound: its SMs take no thread block
  before that turn.  An SM takes one when the bounds of all other threads are after its own turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warpreg.timing.core.columns import clock, machine, sms, team
from warpreg.timing.core.rows import sms_from
from warpreg.timing.core.state import Core
from warpreg.timing.core.status import DONE, GOING, STOPPED
from warpreg.timing.core.team_words import publish, seen, wait_a_little
from warpreg.timing.core.typed import NEVER, NONE, Column, SmRow, TeamRow

FIRST_SM = SmRow(0)
SM_BITS = 20
LONGEST_WINDOW, SHORTEST_WINDOW = 4096, 64
"""Cycles between meetings, at most; shorter where many thread blocks are dispatched, because SMs wait for turns.  These
and the two shares below change no result.  Chosen, not measured.
"""
MANY, FEW = 4, 16
"""The window halves if more than one SM in `MANY` got a thread block in the last one, and doubles if fewer than one in
`FEW` did.
"""

SHARED_EVERY = 256
"""Instructions of an SM, on average, until SMs may change threads again."""
EVEN = 10
"""They do only if a thread has issued more than its share, and a tenth of it: an SM that changes threads costs tens of
microseconds, because its state is in the cache of another processor.  Neither constant changes a result.
"""


def row_of(member: int) -> TeamRow:
    """The row of a thread."""
    row: Any = 1 + member
    return row


def turn_of(sm: SmRow, cycle: int) -> int:
    """A number for an SM in a cycle, in the order of dispatch."""
    return cycle << SM_BITS | sm


def first_sm(c: Core, member: int) -> SmRow:
    """The first SM of a thread; of the number of threads, the SM after the last one."""
    return c.team[row_of(member), team.FIRST_SM]


def own_sms(c: Core) -> Iterable[SmRow]:
    """The SMs of this thread."""
    member = c.clock[clock.MEMBER]
    return sms_from(first_sm(c, member), first_sm(c, member + 1))


def state_bound(c: Core, turn: int) -> None:
    """The SMs of this thread take no thread block before ``turn``."""
    if c.clock[clock.MEMBERS] > 1:
        publish(c.team, row_of(c.clock[clock.MEMBER]), team.BOUND, turn)


def others_are_first(c: Core, sm: SmRow, now: int) -> bool:
    """Whether other SMs of this thread must be stepped before this one in cycle ``now``: another thread waits for them.

    A thread that waits for all SMs of this one to reach this cycle is told.  Others are not, because a word that one
    thread writes and another reads costs as much as a step.
    """
    if c.clock[clock.REST] == NONE:
        return False
    turn = turn_of(sm, now)
    for member in range(c.clock[clock.MEMBERS]):
        awaited = seen(c.team, row_of(member), team.AWAITS)
        if awaited < turn:
            if awaited >= c.clock[clock.REST]:
                return True
            state_bound(c, min(c.clock[clock.REST], turn))
    return False


def next_in_turn(c: Core) -> SmRow:
    """Of the SMs of this thread that must be stepped or receive a thread block before UNTIL, the one whose turn is
    first; NONE if there is none.
    """
    first, rest = NEVER, turn_of(FIRST_SM, c.clock[clock.UNTIL])
    chosen: SmRow = NONE
    for sm in own_sms(c):
        turn = c.turns[sm]
        if turn < first:
            rest = min(rest, first)
            first = turn
            chosen = sm
        else:
            rest = min(rest, turn)
    if c.clock[clock.MEMBERS] > 1:
        c.clock[clock.REST] = rest
        state_bound(c, min(first, rest))
    return chosen


def await_turn(c: Core, sm: SmRow) -> int:
    """Wait for the turn of the first SM of this thread; returns DONE, or STOPPED."""
    members, own = c.clock[clock.MEMBERS], row_of(c.clock[clock.MEMBER])
    if members == 1:
        return DONE
    turn = c.turns[sm]
    for member in range(members):
        if member != c.clock[clock.MEMBER] and seen(c.team, row_of(member), team.BOUND) <= turn:
            publish(c.team, own, team.AWAITS, turn)
            turns = 0
            while seen(c.team, row_of(member), team.BOUND) <= turn:
                if seen(c.team, team.COMMON, team.STOP) != 0:
                    return STOPPED
                turns = wait_a_little(turns)
    publish(c.team, own, team.AWAITS, NEVER)
    return DONE


def arrive(c: Core, soonest: int, room: int) -> int:
    """All SMs of this thread have been stepped: wait for the others, and, if not the leader, for its decision.

    Returns DONE in the leader once all have arrived, GOING in the others when they may go on, or STOPPED.
    """
    member, members = c.clock[clock.MEMBER], c.clock[clock.MEMBERS]
    own = row_of(member)
    c.team[own, team.ENDED] = c.clock[clock.ENDED_BLOCKS]
    c.team[own, team.PROGRESS] = c.clock[clock.LAST_PROGRESS]
    c.team[own, team.SOONEST] = soonest
    c.team[own, team.ISSUED] = c.clock[clock.WARP_INSTRUCTIONS]
    c.team[own, team.ROOM] = room
    if members == 1:
        return DONE
    c.clock[clock.MEETINGS] += 1
    meeting = c.clock[clock.MEETINGS]
    publish(c.team, own, team.ARRIVED, meeting)
    if member != 0:
        return _await(c, team.COMMON, team.MEETINGS, meeting, GOING)
    status = DONE
    for other in range(1, members):
        if status == DONE:
            status = _await(c, row_of(other), team.ARRIVED, meeting, DONE)
    return status


def _await(c: Core, row: TeamRow, column: Column[TeamRow, int], value: int, there: int) -> int:
    """Wait until a word has a value; returns ``there``, or STOPPED."""
    turns = 0
    while True:
        stopped = seen(c.team, team.COMMON, team.STOP)
        if seen(c.team, row, column) == value:
            return there
        if stopped != 0:
            return STOPPED
        turns = wait_a_little(turns)


def go_on(c: Core, until: int) -> None:
    """The leader lets all threads step their SMs up to ``until``."""
    c.team[team.COMMON, team.UNTIL] = until
    if c.clock[clock.MEMBERS] > 1:
        publish(c.team, team.COMMON, team.MEETINGS, c.clock[clock.MEETINGS])


def stop(c: Core) -> None:
    """This thread leaves, so that all others do."""
    if c.clock[clock.MEMBERS] > 1:
        publish(c.team, team.COMMON, team.STOP, 1)


def begin_window(c: Core) -> None:
    """After a meeting: know what the leader has decided."""
    c.clock[clock.UNTIL] = c.team[team.COMMON, team.UNTIL]
    c.clock[clock.NEXT_BLOCK] = c.team[team.COMMON, team.NEXT_BLOCK]


def note_ahead(c: Core, cycles: int) -> None:
    """The leader has worked ahead of the SMs for so many cycles of the processor."""
    c.team[row_of(0), team.AHEAD] += cycles


def note_stepping(c: Core, cycles: int) -> None:
    """The leader has stepped its SMs for so many cycles of the processor."""
    c.team[row_of(0), team.STEPPING] += cycles


def share_sms(c: Core) -> None:
    """If the instructions since the last time are spread unevenly, the leader gives each thread SMs that have issued
    about as many of them; what it does besides its SMs counts as the instructions that take as long.
    """
    members, since, most = c.clock[clock.MEMBERS], 0, 0
    for member in range(members):
        own = c.team[row_of(member), team.ISSUED] - c.team[row_of(member), team.SHARED_AT]
        since += own
        most = max(most, own)
    if members == 1 or since < SHARED_EVERY * c.machine[machine.SMS]:
        return
    besides = _besides(c)
    since += besides
    most = max(most, besides + c.team[row_of(0), team.ISSUED] - c.team[row_of(0), team.SHARED_AT])
    for member in range(members):
        c.team[row_of(member), team.SHARED_AT] = c.team[row_of(member), team.ISSUED]
    _divide_sms(c, since, besides)
    if most * members * EVEN < since * (EVEN + 1):
        return
    for member in range(members):
        begin, end = c.team[row_of(member), team.NEXT_FIRST_SM], c.team[row_of(member + 1), team.NEXT_FIRST_SM]
        if end - begin > c.team[row_of(member), team.ROOM]:
            return
    for member in range(1, members):
        c.team[row_of(member), team.FIRST_SM] = c.team[row_of(member), team.NEXT_FIRST_SM]


def _besides(c: Core) -> int:
    """What the leader has done besides its SMs since these were shared, as a number of instructions."""
    leader = row_of(0)
    issued = c.team[leader, team.ISSUED] - c.team[leader, team.SHARED_AT]
    besides = c.team[leader, team.AHEAD] * issued // max(1, c.team[leader, team.STEPPING])
    c.team[leader, team.AHEAD] = c.team[leader, team.STEPPING] = 0
    return besides


def _divide_sms(c: Core, since: int, besides: int) -> None:
    """Find the next first SM of each thread: half of its instructions would exceed the share of the threads before.  Of
    ``since`` instructions, each thread has the same share, the first one ``besides`` its SMs, and at least one SM.
    """
    members, sm_count = c.clock[clock.MEMBERS], c.machine[machine.SMS]
    member, before = 1, besides
    for sm in sms_from(FIRST_SM, sm_count):
        own = c.table[sm, sms.SEQ] - c.table[sm, sms.SHARED_AT]
        c.table[sm, sms.SHARED_AT] = c.table[sm, sms.SEQ]
        exceeds = (2 * before + own) * members >= 2 * member * since
        is_last = sm == sm_count - (members - member)
        if member < members and (is_last or (exceeds and sm > c.team[row_of(member - 1), team.NEXT_FIRST_SM])):
            c.team[row_of(member), team.NEXT_FIRST_SM] = sm
            member += 1
        before += own


def ended_blocks(c: Core) -> int:
    """Thread blocks that have ended."""
    total = 0
    for member in range(c.clock[clock.MEMBERS]):
        total += c.team[row_of(member), team.ENDED]
    return total


def last_progress(c: Core) -> int:
    """The last cycle in which an instruction issued."""
    last = 0
    for member in range(c.clock[clock.MEMBERS]):
        last = max(last, c.team[row_of(member), team.PROGRESS])
    return last


def soonest_of_all(c: Core) -> int:
    """The earliest cycle in which an SM must be stepped."""
    soonest = NEVER
    for member in range(c.clock[clock.MEMBERS]):
        soonest = min(soonest, c.team[row_of(member), team.SOONEST])
    return soonest


def end_of_window(c: Core, first: int, until: int) -> int:
    """The next meeting, ``until`` at the latest; SMs are stepped from cycle ``first`` on."""
    if c.clock[clock.MEMBERS] == 1:
        return until
    placed = c.team[team.COMMON, team.NEXT_BLOCK] - c.team[team.COMMON, team.PLACED]
    c.team[team.COMMON, team.PLACED] += placed
    window = c.team[team.COMMON, team.WINDOW]
    if MANY * placed > c.machine[machine.SMS]:
        window = max(SHORTEST_WINDOW, window // 2)
    elif FEW * placed < c.machine[machine.SMS]:
        window = min(LONGEST_WINDOW, 2 * window)
    c.team[team.COMMON, team.WINDOW] = window
    return min(until, first + window)
