"""Registers that hooks send to memory (`spill`) or fetch from it, and the hook ``transferred``.

They wait in a list of the SM and share the load-store unit with the queue of instructions: what has waited longest is
sent first.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.designs.interface.own_memory import REGISTERS
from warpreg.designs.interface.plan import (
    FETCHED,
    SENT,
    SENT_LINE,
    SENT_PATH,
    SENT_REGISTER,
    SENT_SECTORS,
    SENT_WARP,
    SENT_WAY,
    UNSET,
)
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, ops, sms, warps
from warpreg.timing.core.inflight import give_op, take_op
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.rows import numbered_warp, slot_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, NONE, OpRow, SmRow, WarpRow
from warpreg.timing.hooks import adapters, transfers
from warpreg.timing.sm.writeback import end_warp


@stands_for(adapters.send_registers, when.TRAFFIC)
def send_registers(c: Core, d: Any, sm: SmRow, now: int) -> None:
    if d.queued[SENT] != 0:
        _queue(c, d, sm, now)


@noinline
def _queue(c: Core, d: Any, sm: SmRow, now: int) -> None:
    sent = d.queued[SENT]
    d.queued[SENT] = 0
    if sent > d.sent.shape[0] or c.clock[clock.FREE_OPS] < sent + 2:
        c.clock[clock.OVERFLOW] = 1
        sent = 0
    for row in range(sent):
        warp = numbered_warp(c, d.sent[row, SENT_WARP])
        op = take_op(c, sm, warp, ops.FETCH if d.sent[row, SENT_WAY] == FETCHED else ops.SPILL)
        line = d.sent[row, SENT_LINE]
        if line == UNSET:
            line = slot_of(c, sm, warp) * REGISTERS + d.sent[row, SENT_REGISTER]
        else:
            line += record.OWN_LINES
        place = record.DESIGN_BASE + (sm * record.LINES_OF_SM + line) * record.LINE_BYTES
        c.rows[op, ops.CURSOR] = place | d.sent[row, SENT_SECTORS]
        c.rows[op, ops.REGISTER] = d.sent[row, SENT_REGISTER]
        c.rows[op, ops.PATH] = d.sent[row, SENT_PATH]
        c.rows[op, ops.SENT_AT] = now
        c.rows[op, ops.TICKETS] = 0 if _has_ended(c, warp) else 1
        c.rows[warp, warps.AWAY] += c.rows[op, ops.TICKETS]
        c.rows[op, ops.NEXT] = NONE
        if c.table[sm, sms.TRAFFIC_FIRST] == NONE:
            c.table[sm, sms.TRAFFIC_FIRST] = op
            c.table[sm, sms.TRAFFIC_AT] = now + 1
        else:
            c.rows[c.table[sm, sms.TRAFFIC_LAST], ops.NEXT] = op
        c.table[sm, sms.TRAFFIC_LAST] = op


@stands_for(ports.sends_first, when.TRAFFIC)
def sends_first(c: Core, memory: Any, sm: SmRow, now: int) -> None:
    """A register goes before an instruction that has entered the queue after it, or that does not send now."""
    head_waits = c.table[sm, sms.QUEUED] != 0 and c.table[sm, sms.QUEUE_AT] <= now
    first = c.table[sm, sms.TRAFFIC_FIRST]
    if first == NONE or (head_waits and c.rows[c.table[sm, sms.QUEUE_HEAD], ops.SENT_AT] <= c.rows[first, ops.SENT_AT]):
        return
    _send(c, memory, sm, now)


@stands_for(ports.sends_then, when.TRAFFIC)
def sends_then(c: Core, memory: Any, sm: SmRow, now: int) -> None:
    _send(c, memory, sm, now)


def _send(c: Core, memory: Any, sm: SmRow, now: int) -> None:
    """Send the first register of the list, if memory accepts it in this cycle."""
    op = c.table[sm, sms.TRAFFIC_FIRST]
    if op == NONE or c.table[sm, sms.TRAFFIC_AT] > now:
        return
    if not ports.accepts(memory, sm, now):
        c.table[sm, sms.TRAFFIC_AT] = ports.retry(memory, sm, now)
        return
    word = c.rows[op, ops.CURSOR]
    kind = record.LOAD if c.rows[op, ops.PC] == ops.FETCH else record.SPILL
    ports.send(memory, sm, kind, word & -record.LINE_BYTES, word & record.ALL_SECTORS, op, now)
    c.table[sm, sms.TRAFFIC_FIRST] = c.rows[op, ops.NEXT]
    c.table[sm, sms.TRAFFIC_AT] = now + 1


@stands_for(ports.traffic_at, when.TRAFFIC)
def traffic_at(c: Core, sm: SmRow) -> int:
    return NEVER if c.table[sm, sms.TRAFFIC_FIRST] == NONE else c.table[sm, sms.TRAFFIC_AT]


@stands_for(ports.memory_answers, when.TRAFFIC)
def memory_answers(c: Core, sm: SmRow, now: int) -> None:
    if c.table[sm, sms.TRAFFIC_AT] == NEVER:
        c.table[sm, sms.TRAFFIC_AT] = now


@stands_for(ports.is_traffic, when.TRAFFIC)
def is_traffic(c: Core, op: OpRow) -> bool:
    return c.rows[op, ops.PC] <= ops.SPILL


@stands_for(ports.traffic_is_back, when.TRAFFIC)
def traffic_is_back(c: Core, memory: Any, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """Count what has answered, and report a register that was fetched, unless it was for a warp that had ended."""
    warp = c.rows[op, ops.WARP]
    if c.rows[op, ops.TICKETS] != 0:
        _count_answer(c, memory, sm, op, now)
        if c.rows[op, ops.PC] == ops.FETCH:
            transfers.tell_transferred(c, d, sm, warp, c.rows[op, ops.PATH], c.rows[op, ops.REGISTER], now)
        c.rows[warp, warps.AWAY] -= 1
        if _has_ended(c, warp):
            end_warp(c, sm, warp)
    give_op(c, op)


def _count_answer(c: Core, memory: Any, sm: SmRow, op: OpRow, now: int) -> None:
    level = ports.reach(memory, sm)
    if c.rows[op, ops.PC] == ops.SPILL:
        c.clock[clock.DESIGN_WRITES_SM + level] += 1
    else:
        c.clock[clock.DESIGN_READS_SM + level] += 1
        c.clock[clock.DESIGN_READ_CYCLES] += now - c.rows[op, ops.SENT_AT]


@stands_for(ports.nothing_away, when.TRAFFIC)
def nothing_away(c: Core, warp: WarpRow) -> bool:
    return c.rows[warp, warps.AWAY] == 0


def _has_ended(c: Core, warp: WarpRow) -> bool:
    """Whether nothing of a warp is left, also not what hooks have sent for it."""
    nothing = c.rows[warp, warps.HEAD] == NONE and c.rows[warp, warps.FLIGHT] == 0
    return nothing and c.rows[warp, warps.AWAY] == 0
