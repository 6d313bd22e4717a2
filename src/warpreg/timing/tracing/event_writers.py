"""What records: each function takes the place of one of the core, calls it, and writes a row.

The functions ``core_...`` stand for those of the core.  Their docstrings are there.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word
from warpreg.timing.core.bitset import lowest
from warpreg.timing.core.columns import Cause, blocks, causes, code, collectors, machine, ops, schedulers, sms, warps
from warpreg.timing.core.operand_word import op_of
from warpreg.timing.core.port import port, stands_for, wraps
from warpreg.timing.core.rows import number_of, scheduler_at, slot_of, warp_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, CollectorRow, OpRow, Pc, SchedulerRow, SmRow, WarpRow
from warpreg.timing.hooks import adapters
from warpreg.timing.sm import (
    issue,
    load_store_unit,
    operand_collector,
    owned_collectors,
    stall_account,
    wakeup,
    writeback,
)
from warpreg.timing.tracing.buffers import BEGIN, COUNT, END, IS, ROOM, SINCE
from warpreg.timing.tracing.event_rows import CYCLE, KIND, PC, SEQUENCE, SLOT, SM, UNIT, VALUE, Kind

ISSUE, ENTER, READ, DISPATCH = int(Kind.ISSUE), int(Kind.ENTER), int(Kind.READ), int(Kind.DISPATCH)
RESULT, WRITE, EXTRA, DONE = int(Kind.RESULT), int(Kind.WRITE), int(Kind.EXTRA), int(Kind.DONE)
STATE, COUNTED, RESOURCE = int(Kind.STATE), int(Kind.COUNTED), int(Kind.RESOURCE)


@port("sums of waits")
@noinline
def append(c: Any, kind: int, sm: int, slot: int, unit: int, pc: int, sequence: int, value: int, now: int) -> None:
    """Append a row; beyond the room, rows are only counted."""
    at = c.place[COUNT]
    c.place[COUNT] = at + 1
    if at < c.place[ROOM]:
        c.events[at, KIND] = kind
        c.events[at, SM] = sm
        c.events[at, SLOT] = slot
        c.events[at, UNIT] = unit
        c.events[at, PC] = pc
        c.events[at, SEQUENCE] = sequence
        c.events[at, CYCLE] = now
        c.events[at, VALUE] = value


def is_within(c: Any, now: int) -> bool:
    """Whether a cycle is in the window."""
    return bool(c.place[BEGIN] <= now < c.place[END])


@noinline
def note(c: Any, kind: int, sm: SmRow, op: OpRow, unit: int, value: int, now: int) -> None:
    """Something happens to an instruction under way."""
    if is_within(c, now):
        slot = slot_of(c, sm, c.rows[op, ops.WARP])
        append(c, kind, sm, slot, unit, c.rows[op, ops.PC], c.rows[op, ops.SEQUENCE], value, now)


@noinline
def lasts(c: Any, kind: int, row: int, sm: int, slot: int, unit: int, value: int, now: int) -> None:
    """What lasts has a ``value`` from ``now`` on; if it had another one, that span ends."""
    before, since = c.lasting[row, IS], c.lasting[row, SINCE]
    if before != value:
        if since < now and since < c.place[END] and c.place[BEGIN] < now:
            append(c, kind, sm, slot, unit if kind == RESOURCE else before, NONE, now - since, before, since)
        c.lasting[row, IS] = value
        c.lasting[row, SINCE] = now


# Instructions.


def core_issue_head(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, pipe: int, now: int
) -> None: ...


@wraps(issue.issue_head, core_issue_head, when.RECORDED)
def issue_head(
    c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, pipe: int, now: int
) -> None:
    pc, sequence, block = c.rows[warp, warps.HEAD], c.table[sm, sms.SEQ], c.rows[warp, warps.BLOCK]
    if is_within(c, now):
        append(c, ISSUE, sm, slot_of(c, sm, warp), scheduler, pc, sequence, c.rows[block, blocks.INDEX], now)
    core_issue_head(c, d, sm, row, scheduler, warp, pipe, now)


def core_take_collector(c: Core, d: Any, sm: SmRow, collector: int, op: OpRow, now: int) -> None: ...


@wraps(operand_collector.take_collector, core_take_collector, when.EVENTS)
def take_collector(c: Core, d: Any, sm: SmRow, collector: int, op: OpRow, now: int) -> None:
    note(c, ENTER, sm, op, collector, 0, now)
    core_take_collector(c, d, sm, collector, op, now)


def core_is_there(c: Core, row: CollectorRow, k: int, now: int, after: int) -> None: ...


@wraps(operand_collector.is_there, core_is_there, when.EVENTS)
def is_there(c: Core, row: CollectorRow, k: int, now: int, after: int) -> None:
    op = c.rows[row, collectors.HELD]
    bank = c.rows[row, collectors.WORD + k] & operand_word.SAYS_BANK
    sm: Any = number_of(c, c.rows[op, ops.WARP]) // c.machine[machine.SLOTS]
    note(c, READ, sm, op, bank, served(c, op, k, bank), now)
    core_is_there(c, row, k, now, after)


@port("the hook plan_reads")
def served(c: Core, op: OpRow, k: int, bank: int) -> int:
    """The source operands that the grant of the k-th source serves: those that name its register."""
    pc = c.rows[op, ops.PC]
    register = c.lists[c.code[pc, code.READS] + k, 0]
    found = 0
    for row in range(c.code[pc, code.ALL_READS], c.code[pc, code.ALL_READS_END]):
        found += c.lists[row, 0] == register
    return found


@stands_for(served, when.RECORDED & when.PLANS_SOURCES)
def served_as_planned(c: Core, op: OpRow, k: int, bank: int) -> int:
    """In place of `served` where a design plans sources: some of those may be elsewhere."""
    pc = c.rows[op, ops.PC]
    first = c.code[pc, code.ALL_READS]
    count = 0
    for other in range(c.code[pc, code.ALL_READS_END] - first):
        word = adapters.kept_source(c, op, other)
        asks = word >= 0 and word & operand_word.SAYS_BANK == bank
        count += asks and c.lists[first + other, 0] == c.lists[first + k, 0]
    return count


def core_begin(c: Core, d: Any, sm: SmRow, op: OpRow, later: int, now: int) -> None: ...


@wraps(load_store_unit.begin, core_begin, when.EVENTS)
def begin(c: Core, d: Any, sm: SmRow, op: OpRow, later: int, now: int) -> None:
    pc: Pc = c.rows[op, ops.PC]
    note(c, DISPATCH, sm, op, c.code[pc, code.PIPE], 0, now)
    core_begin(c, d, sm, op, later, now)


def core_process_results(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None: ...


@wraps(writeback.process_results, core_process_results, when.EVENTS)
def process_results(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    note(c, RESULT, sm, op, 0, 0, now)
    core_process_results(c, d, sm, op, now)


def core_serve_write(c: Core, d: Any, sm: SmRow, bank: int, word: int, now: int) -> None: ...


@wraps(writeback.serve_write, core_serve_write, when.EVENTS)
def serve_write(c: Core, d: Any, sm: SmRow, bank: int, word: int, now: int) -> None:
    op = op_of(word)
    if c.rows[op, ops.PC] != ops.EXTRA and c.rows[op, ops.PC] != ops.TRANSFER:
        note(c, WRITE, sm, op, bank, 0, now)
    elif is_within(c, now):
        append(c, EXTRA, sm, slot_of(c, sm, c.rows[op, ops.WARP]), bank, NONE, NONE, 0, now)
    core_serve_write(c, d, sm, bank, word, now)


def core_finish(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None: ...


@wraps(writeback.finish, core_finish, when.EVENTS)
def finish(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    note(c, DONE, sm, op, 0, 0, now)
    core_finish(c, d, sm, op, now)


# Causes of the stall account.


def enters(c: Core, sm: SmRow, warp: WarpRow, cause: Cause, now: int) -> None:
    """A warp slot has a cause from ``now`` on."""
    lasts(c, STATE, number_of(c, warp), sm, slot_of(c, sm, warp), 0, int(cause), now)


def core_set_cause(c: Core, row: SchedulerRow, position: int, warp: WarpRow, cause: Cause, now: int) -> None: ...


@wraps(wakeup.set_cause, core_set_cause, when.RECORDED)
def set_cause(c: Core, row: SchedulerRow, position: int, warp: WarpRow, cause: Cause, now: int) -> None:
    core_set_cause(c, row, position, warp, cause, now)
    if cause != causes.READY:
        sm: Any = number_of(c, warp) // c.machine[machine.SLOTS]
        enters(c, sm, warp, cause, now)


def core_blocked_warps(c: Core, sm: SmRow, scheduler: int, cycles: int, now: int) -> int:
    return 0


@wraps(stall_account.blocked_warps, core_blocked_warps, when.RECORDED)
@noinline
def blocked_warps(c: Core, sm: SmRow, scheduler: int, cycles: int, now: int) -> int:
    blocked = core_blocked_warps(c, sm, scheduler, cycles, now)
    left = blocked
    while left != 0:
        warp = warp_of(c, sm, scheduler, lowest(left))
        left &= left - 1
        enters(c, sm, warp, blocking_cause(c, sm, scheduler, warp, now), now - cycles + 1)
    return blocked


@port("collectors of warps")
def blocking_cause(c: Core, sm: SmRow, scheduler: int, warp: WarpRow, now: int) -> Cause:
    """The cause of a blocked warp."""
    return stall_account.blocking_cause(c, sm, scheduler_at(c, sm, scheduler), c.rows[warp, warps.WANTED], now)


@stands_for(blocking_cause, when.RECORDED & when.OWNED)
def owned_blocking_cause(c: Core, sm: SmRow, scheduler: int, warp: WarpRow, now: int) -> Cause:
    """In place of `blocking_cause` where warps own collectors."""
    return owned_collectors.blocking_cause(c, sm, warp, now)


def core_take_turn(c: Core, d: Any, sm: SmRow, scheduler: int, now: int) -> bool:
    return False


@wraps(issue.take_turn, core_take_turn, when.RECORDED)
def take_turn(c: Core, d: Any, sm: SmRow, scheduler: int, now: int) -> bool:
    row = scheduler_at(c, sm, scheduler)
    able = c.rows[row, schedulers.READY]
    if able != 0:
        able &= ~core_blocked_warps(c, sm, scheduler, 0, now)
    again = core_take_turn(c, d, sm, scheduler, now)
    while able != 0:
        warp = warp_of(c, sm, scheduler, lowest(able))
        able &= able - 1
        cause = causes.TOKEN
        if c.rows[warp, warps.LAST_ISSUE] == now:
            cause = causes.ISSUED
        elif c.rows[row, schedulers.READY] & c.rows[warp, warps.OWN] != 0:
            cause = causes.NOT_SELECTED
        enters(c, sm, warp, cause, now)
    return again


# What hooks count.


def core_settle(c: Core, d: Any, sm: SmRow, now: int) -> int:
    return 0


@wraps(adapters.settle, core_settle, when.EVENTS)
@noinline
def settle(c: Core, d: Any, sm: SmRow, now: int) -> int:
    ready = core_settle(c, d, sm, now)
    _note_counts(c, d, sm, now)
    return ready


def _note_counts(c: Core, d: Any, sm: SmRow, now: int) -> None:
    plan = d.plan
    levels, actions = plan.moves.shape[0], plan.tables.shape[1]
    first = 0
    for index in range(plan.accesses.size):
        _note_count(c, sm, first + index, plan.accesses[index], now)
    first += plan.accesses.size
    for index in range(plan.spared.size):
        _note_count(c, sm, first + index, plan.spared[index], now)
    first += plan.spared.size
    for source in range(levels):
        for target in range(levels):
            _note_count(c, sm, first + source * levels + target, plan.moves[source, target], now)
    first += levels * levels
    for index in range(plan.events.size):
        _note_count(c, sm, first + index, plan.events[index], now)
    first += plan.events.size
    for table in range(plan.tables.shape[0]):
        for action in range(actions):
            _note_count(c, sm, first + table * actions + action, plan.tables[table, action], now)
    resources = plan.levels.shape[1]
    slots = c.machine[machine.SMS] * c.machine[machine.SLOTS]
    for resource in range(resources):
        lasts(c, RESOURCE, slots + sm * resources + resource, sm, NONE, resource, plan.levels[sm, resource, 0], now)


def _note_count(c: Any, sm: int, counter: int, value: int, now: int) -> None:
    more = value - c.before[counter]
    if more != 0:
        c.before[counter] = value
        if is_within(c, now):
            append(c, COUNTED, sm, NONE, counter, NONE, NONE, more, now)
