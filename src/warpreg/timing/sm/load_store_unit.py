"""The load-store unit: a queue of memory instructions whose head sends one transaction in a cycle."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import access_record as record
from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.columns import Core
from warpreg.timing.core.inflight import schedule
from warpreg.timing.sm.writeback import finish


def has_room(c: Core, sm: int) -> bool:
    """Whether the queue takes another instruction."""
    return c.table[sm, at.QUEUED] < c.machine[at.QUEUE]


def begin(c: Core, d: Any, sm: int, op: int, later: int, now: int) -> None:
    """An instruction is dispatched: into the queue if it has something to send, else into its pipe.

    ``later``: cycles that its operands come later.
    """
    pc = c.rows[op, at.OP_PC]
    pipe = c.code[pc, at.PIPE]
    ready = now + later
    dispatch = c.machine[at.DISPATCH_CYCLES]
    c.clock[at.DISPATCHED + pipe] += 1
    if pipe != at.MEM and pipe != at.TEX:
        schedule(c, sm, op, ready + c.code[pc, at.LATENCY] + dispatch, now)
        return
    to_send = _to_send(c, op)
    cycles = ports.load_lookup(c, d, sm, op, now) if to_send > 0 else max(1, dispatch)
    if cycles > 0:
        schedule(c, sm, op, ready + cycles, now)
        return
    c.rows[op, at.OP_TO_SEND] = to_send
    c.rows[op, at.OP_PLACE] = c.rows[op, at.OP_RECORD] + record.HEADER_WORDS
    c.rows[op, at.OP_NEXT] = at.NONE
    c.rows[op, at.OP_READY] = ready
    c.rows[op, at.OP_SENT_AT] = now
    if c.table[sm, at.QUEUED] == 0:
        c.table[sm, at.QUEUE_HEAD] = op
        c.table[sm, at.QUEUE_AT] = _first_turn(c, op, now)
    else:
        c.rows[c.table[sm, at.QUEUE_TAIL], at.OP_NEXT] = op
    c.table[sm, at.QUEUE_TAIL] = op
    c.table[sm, at.QUEUED] += 1
    if not _is_local(c, op):
        ports.memory_issued(c, d, sm, op, now)


def _to_send(c: Core, op: int) -> int:
    """Transactions, or cycles at the head of the queue; 0 for an instruction that sends nothing."""
    place = c.rows[op, at.OP_RECORD]
    if place == at.NONE:
        return 0
    head = c.slab[place]
    if head & 0xFFFFFFFF == 0:
        return 0
    if head >> record.SPACE_SHIFT & 255 == record.CONSTANT:
        return 1
    return head >> record.TRANSACTIONS_SHIFT


def _first_turn(c: Core, op: int, now: int) -> int:
    """When the head acts first after ``now``: it sends, or has its last cycle if memory inside the SM serves it."""
    start = max(now, c.rows[op, at.OP_READY])
    return start + c.rows[op, at.OP_TO_SEND] if _is_local(c, op) else start + 1


def send_one(c: Core, memory: Any, d: Any, sm: int, now: int) -> None:
    """The head's turn in this cycle."""
    if c.table[sm, at.QUEUED] == 0 or c.table[sm, at.QUEUE_AT] > now:
        return
    op = c.table[sm, at.QUEUE_HEAD]
    if _is_local(c, op):
        _leave(c, sm, op, now)
        _end_local(c, d, sm, op, now)
    elif ports.accepts(memory, sm, now):
        _send(c, memory, sm, op, now)
    else:
        c.table[sm, at.QUEUE_AT] = ports.retry(memory, sm, now)


def expect_head(c: Core, memory: Any, sm: int) -> None:
    """Say what the head sends next."""
    if c.table[sm, at.QUEUED] != 0:
        ports.expect(memory, sm, c.slab[c.rows[c.table[sm, at.QUEUE_HEAD], at.OP_PLACE]] & -record.LINE_BYTES)


def _is_local(c: Core, op: int) -> bool:
    """Whether memory inside the SM serves it: all its cycles are known when it becomes the head."""
    space = c.slab[c.rows[op, at.OP_RECORD]] >> record.SPACE_SHIFT & 255
    return space == record.SHARED or space == record.CONSTANT


def _end_local(c: Core, d: Any, sm: int, op: int, now: int) -> None:
    """Its last conflict cycle: stores are complete, loads follow after the latency."""
    c.rows[op, at.OP_TO_SEND] = 0
    pc = c.rows[op, at.OP_PC]
    if c.code[pc, at.KIND] == at.STORE:
        finish(c, d, sm, op, now)
        return
    space = c.slab[c.rows[op, at.OP_RECORD]] >> record.SPACE_SHIFT & 255
    constant = space == record.CONSTANT
    latency = c.machine[at.CONSTANT_LATENCY] if constant else c.machine[at.SHARED_LATENCY]
    schedule(c, sm, op, now + latency, now)


def _send(c: Core, memory: Any, sm: int, op: int, now: int) -> None:
    place = c.rows[op, at.OP_PLACE]
    word = c.slab[place]
    pc = c.rows[op, at.OP_PC]
    c.rows[op, at.OP_PLACE] = place + 1
    c.rows[op, at.OP_TO_SEND] -= 1
    c.rows[op, at.OP_TICKETS] += 1
    c.clock[at.TRANSACTIONS] += 1
    ports.send(memory, sm, c.code[pc, at.KIND], word & -record.LINE_BYTES, word & record.ALL_SECTORS, op, now)
    c.table[sm, at.QUEUE_AT] = now + 1
    if c.rows[op, at.OP_TO_SEND] == 0:
        _leave(c, sm, op, now)


def _leave(c: Core, sm: int, op: int, now: int) -> None:
    """The head leaves; the next one begins in the next cycle, and one inside the SM acts in its last."""
    following = c.rows[op, at.OP_NEXT]
    c.table[sm, at.QUEUE_HEAD] = following
    c.table[sm, at.QUEUED] -= 1
    if following != at.NONE:
        c.table[sm, at.QUEUE_AT] = _first_turn(c, following, now)
