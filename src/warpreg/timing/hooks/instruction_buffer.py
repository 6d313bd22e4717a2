"""The two instructions that a warp issues next, for designs that look at them before they issue.

Like `warpreg.timing.hooks.adapters`.  The second one is in the buffer only if it stands directly behind the first in
the code: at a taken branch, and where the path goes elsewhere, nothing is known of what follows.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import code, machine, ops, warps
from warpreg.timing.core.port import placeholder, stands_for
from warpreg.timing.core.rows import number_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, Pc, SmRow, WarpRow
from warpreg.timing.hooks.adapters import plan_of, record_base, record_stride, settle
from warpreg.timing.sm.issue import record_words
from warpreg.timing.sm.wakeup import needs_any_of


@placeholder
def buffered(
    state: Any, program: Any, warp: int, pc: int, ahead: int, base: int, stride: int, mask: int, plan: Any
) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.see_buffer, when.hook("buffered"))
def see_buffer(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A write-back of an instruction with results: tell of both instructions."""
    pc, warp = c.rows[op, ops.PC], c.rows[op, ops.WARP]
    if c.code[pc, code.WRITES] == c.code[pc, code.WRITES_END]:
        return
    see_next(c, d, sm, warp, now)
    head = c.rows[warp, warps.HEAD]
    if head == NONE:
        return
    second: Any = head + 1
    mask = _mask_of_second(c, warp, second)
    if mask != 0 and not needs_any_of(c, warp, second, warps.BUSY) and not _writes_for(c, head, second):
        access = c.rows[warp, warps.ACCESS]
        if c.code[head, code.KIND] != record.NO_ACCESS:
            access += record_words(c, access)
        _tell(c, d, sm, warp, second, 1, access, mask, now)


@stands_for(ports.see_next, when.hook("buffered"))
def see_next(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """Tell of the next instruction, unless it waits for a result."""
    head = c.rows[warp, warps.HEAD]
    if head != NONE and not needs_any_of(c, warp, head, warps.BUSY):
        _tell(c, d, sm, warp, head, 0, c.rows[warp, warps.ACCESS], c.rows[warp, warps.MASK], now)


def _tell(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, ahead: int, access: int, mask: int, now: int) -> None:
    if c.code[pc, code.KIND] == record.NO_ACCESS:
        access = NONE
    plan = plan_of(c, d, sm, number_of(c, warp), pc, mask, access, NONE, now)
    lanes = c.slab[access] & 0xFFFFFFFF if access != NONE else 0
    base, stride = record_base(c, access), record_stride(c, access)
    buffered(d.state, d.program, number_of(c, warp), pc, ahead, base, stride, lanes, plan)
    settle(c, d, sm, now)


def _mask_of_second(c: Core, warp: WarpRow, second: Pc) -> int:
    """The active lanes of the instruction behind the head; 0 if the path does not go there."""
    if second != c.rows[warp, warps.BLOCK_END]:
        return int(c.rows[warp, warps.MASK])
    visit = c.rows[warp, warps.VISIT]
    while visit != c.rows[warp, warps.VISIT_END]:
        word = c.slab[visit]
        row = c.machine[machine.FIRST_PCS] + (word >> 32)
        if c.lists[row, 0] != c.lists[row, 1]:
            return int(word & 0xFFFFFFFF) if c.lists[row, 0] == second else 0
        visit += 1
    return 0


def _writes_for(c: Core, head: Pc, second: Pc) -> bool:
    """Whether the head will write a cell that the instruction behind it needs."""
    words = c.machine[machine.WORDS]
    found = 0
    for word in range(words):
        found |= c.code[head, code.NEED + words + word] & c.code[second, code.NEED + word]
    return found != 0
