"""Load-store unit: a queue of memory instructions; its head sends a transaction per cycle, and those that join it."""

from __future__ import annotations

from typing import Any

from warpreg.gpu import pipes
from warpreg.timing.core import access_record as record
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, code, machine, ops, sms
from warpreg.timing.core.inflight import schedule
from warpreg.timing.core.port import port
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, SmRow
from warpreg.timing.sm.writeback import finish


def has_room(c: Core, sm: SmRow) -> bool:
    """Whether the queue accepts another instruction."""
    return c.table[sm, sms.QUEUED] < c.machine[machine.QUEUE]


@port("a recording")
def begin(c: Core, d: Any, sm: SmRow, op: OpRow, later: int, now: int) -> None:
    """Dispatch an instruction: into the queue if it has transactions, else into its pipe.

    ``later``: cycles by which its operands are delayed.
    """
    pc = c.rows[op, ops.PC]
    pipe = c.code[pc, code.PIPE]
    ready = now + later + ports.constant_cycles(c, sm, op, now)
    dispatch = c.machine[machine.DISPATCH_CYCLES]
    c.clock[clock.DISPATCHED + pipe] += 1
    if pipe != pipes.MEM and pipe != pipes.TEX:
        schedule(c, sm, op, ready + c.code[pc, code.LATENCY] + dispatch, now)
        return
    ports.begin_access(c, op)
    to_send = _to_send(c, op)
    cycles = ports.load_lookup(c, d, sm, op, now) if to_send > 0 else max(1, dispatch + c.code[pc, code.LATENCY])
    if cycles != 0:
        ports.wait_without_memory(c, sm, op, ready, cycles, now)
        return
    c.rows[op, ops.TO_SEND] = to_send
    c.rows[op, ops.CURSOR] = c.rows[op, ops.RECORD] + record.HEADER_WORDS
    c.rows[op, ops.NEXT] = NONE
    c.rows[op, ops.READY_AT] = ready
    c.rows[op, ops.SENT_AT] = now
    if c.table[sm, sms.QUEUED] == 0:
        c.table[sm, sms.QUEUE_HEAD] = op
        c.table[sm, sms.QUEUE_AT] = _first_turn(c, op, now)
    else:
        c.rows[c.table[sm, sms.QUEUE_TAIL], ops.NEXT] = op
    c.table[sm, sms.QUEUE_TAIL] = op
    c.table[sm, sms.QUEUED] += 1
    if not _is_local(c, op):
        ports.memory_issued(c, d, sm, op, now)


def _to_send(c: Core, op: OpRow) -> int:
    """Transactions, or cycles at the head of the queue; 0 for an instruction that sends nothing."""
    access = c.rows[op, ops.RECORD]
    if access == NONE:
        return 0
    head = c.slab[access]
    if head & 0xFFFFFFFF == 0:
        return 0
    if head >> record.SPACE_SHIFT & 255 == record.CONSTANT:
        return 1
    return head >> record.TRANSACTIONS_SHIFT


def _first_turn(c: Core, op: OpRow, now: int) -> int:
    """First cycle after ``now`` in which the head acts: it sends, or completes if memory inside the SM serves it."""
    start = max(now, c.rows[op, ops.READY_AT])
    return start + c.rows[op, ops.TO_SEND] if _is_local(c, op) else start + 1


def send_one(c: Core, memory: Any, d: Any, sm: SmRow, now: int) -> None:
    """Let the head send in this cycle, or a register of the design."""
    ports.sends_first(c, memory, sm, now)
    _send_head(c, memory, d, sm, now)
    ports.sends_then(c, memory, sm, now)


def _send_head(c: Core, memory: Any, d: Any, sm: SmRow, now: int) -> None:
    if c.table[sm, sms.QUEUED] == 0 or c.table[sm, sms.QUEUE_AT] > now:
        return
    op = c.table[sm, sms.QUEUE_HEAD]
    if _is_local(c, op):
        _leave(c, sm, op, now)
        _end_local(c, d, sm, op, now)
    elif ports.accepts(memory, sm, now):
        _send(c, memory, sm, op, now)
        while c.rows[op, ops.TO_SEND] != 0 and ports.joins(memory, sm, _next_sectors(c, op), now):
            _send(c, memory, sm, op, now)
    else:
        c.table[sm, sms.QUEUE_AT] = ports.retry(memory, sm, now)


def expect_head(c: Core, memory: Any, sm: SmRow) -> None:
    """Announce the next transaction of the head to memory."""
    if c.table[sm, sms.QUEUED] != 0:
        ports.expect(memory, sm, c.slab[c.rows[c.table[sm, sms.QUEUE_HEAD], ops.CURSOR]] & -record.LINE_BYTES)


def _is_local(c: Core, op: OpRow) -> bool:
    """Whether memory inside the SM serves it: all its cycles are known when it becomes the head."""
    space = c.slab[c.rows[op, ops.RECORD]] >> record.SPACE_SHIFT & 255
    return space == record.SHARED or space == record.CONSTANT


def _end_local(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """Process the last conflict cycle: stores are complete, loads after the latency."""
    c.rows[op, ops.TO_SEND] = 0
    pc = c.rows[op, ops.PC]
    if c.code[pc, code.KIND] == record.STORE:
        finish(c, d, sm, op, now)
        return
    space = c.slab[c.rows[op, ops.RECORD]] >> record.SPACE_SHIFT & 255
    constant = space == record.CONSTANT
    latency = c.machine[machine.CONSTANT_LATENCY] if constant else c.machine[machine.SHARED_LATENCY]
    if c.code[pc, code.LOCAL_LATENCY] != 0:
        latency = c.code[pc, code.LOCAL_LATENCY]
    schedule(c, sm, op, now + latency, now)


def _next_sectors(c: Core, op: OpRow) -> int:
    return c.slab[c.rows[op, ops.CURSOR]] & record.ALL_SECTORS


def _send(c: Core, memory: Any, sm: SmRow, op: OpRow, now: int) -> None:
    cursor = c.rows[op, ops.CURSOR]
    word = c.slab[cursor]
    pc = c.rows[op, ops.PC]
    c.rows[op, ops.CURSOR] = cursor + 1
    c.rows[op, ops.TO_SEND] -= 1
    c.rows[op, ops.TICKETS] += 1
    c.clock[clock.TRANSACTIONS] += 1
    ports.send(memory, sm, c.code[pc, code.KIND], word & -record.LINE_BYTES, word & record.ALL_SECTORS, op, now)
    c.table[sm, sms.QUEUE_AT] = now + 1
    if c.rows[op, ops.TO_SEND] == 0:
        _leave(c, sm, op, now)


def _leave(c: Core, sm: SmRow, op: OpRow, now: int) -> None:
    """Remove the head.  The next instruction starts in the next cycle; one served inside the SM acts in its last."""
    following = c.rows[op, ops.NEXT]
    c.table[sm, sms.QUEUE_HEAD] = following
    c.table[sm, sms.QUEUED] -= 1
    if following != NONE:
        c.table[sm, sms.QUEUE_AT] = _first_turn(c, following, now)
