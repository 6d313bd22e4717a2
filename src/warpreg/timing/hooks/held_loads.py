"""Look-up of global loads, and loads that wait without memory until a hook completes them.

Like `warpreg.timing.hooks.adapters`.  The held loads of an SM are in lists by the last bits of their sequence number,
which are searched for it.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.designs.interface.plan import COMPLETED, COMPLETED_CYCLES, COMPLETED_LOAD
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, code, ops, sms
from warpreg.timing.core.inflight import schedule
from warpreg.timing.core.port import placeholder, stands_for
from warpreg.timing.core.rows import number_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, SmRow
from warpreg.timing.hooks import adapters


@placeholder
def load_lookup(state: Any, program: Any, warp: int, pc: int, base: int, stride: int, mask: int, plan: Any) -> int:
    """Placeholder for the design's hook."""
    return 0


@stands_for(ports.load_lookup, when.hook("load_lookup"))
def call_load_lookup(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    access = c.rows[op, ops.RECORD]
    pc = c.rows[op, ops.PC]
    head = c.slab[access]
    kind = c.code[pc, code.KIND]
    if (kind != record.LOAD and kind != record.READ_ONLY_LOAD) or head >> record.SPACE_SHIFT & 255 != record.GLOBAL:
        return 0
    number = number_of(c, c.rows[op, ops.WARP])
    base, stride = c.slab[access + 1], c.slab[access + 2]
    plan = adapters.plan_of_access(c, d, sm, op, now)
    answer = load_lookup(d.state, d.program, number, pc, base, stride, head & 0xFFFFFFFF, plan)
    adapters.settle(c, d, sm, now)
    return answer


@stands_for(ports.wait_without_memory, when.hook("load_lookup"))
def wait_without_memory(c: Core, sm: SmRow, op: OpRow, ready: int, cycles: int, now: int) -> None:
    if cycles > 0:
        schedule(c, sm, op, ready + cycles, now)
        return
    c.rows[op, ops.READY_AT] = ready
    held = sms.HELD + (c.rows[op, ops.SEQUENCE] & sms.HELD_LISTS - 1)
    c.rows[op, ops.NEXT] = c.table[sm, held]
    c.table[sm, held] = op


@stands_for(adapters.complete_loads, when.hook("load_lookup"))
def complete_loads(c: Core, d: Any, sm: SmRow, now: int) -> None:
    if d.queued[COMPLETED] != 0:
        _complete(c, d, sm, now)


@noinline
def _complete(c: Core, d: Any, sm: SmRow, now: int) -> None:
    completed = d.queued[COMPLETED]
    d.queued[COMPLETED] = 0
    if completed > d.completed.shape[0]:
        c.clock[clock.OVERFLOW] = 1
        completed = 0
    for row in range(completed):
        op = _take_held(c, sm, d.completed[row, COMPLETED_LOAD])
        if op == NONE:
            c.clock[clock.OVERFLOW] = -1 - max(0, d.completed[row, COMPLETED_LOAD])
        else:
            ready = max(now, c.rows[op, ops.READY_AT])
            schedule(c, sm, op, ready + max(1, d.completed[row, COMPLETED_CYCLES]), now)


def _take_held(c: Core, sm: SmRow, load: int) -> OpRow:
    """Remove a held load from its list; NONE if there is no such load."""
    held = sms.HELD + (load & sms.HELD_LISTS - 1)
    before: OpRow = NONE
    op = c.table[sm, held]
    while op != NONE and c.rows[op, ops.SEQUENCE] != load:
        before = op
        op = c.rows[op, ops.NEXT]
    if op != NONE:
        if before == NONE:
            c.table[sm, held] = c.rows[op, ops.NEXT]
        else:
            c.rows[before, ops.NEXT] = c.rows[op, ops.NEXT]
    return op
