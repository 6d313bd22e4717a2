"""Dependences by control codes: stall counts and counters instead of a scoreboard of cells.

Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025), section 4.  The
cells of the scoreboard are the counters: a cell is busy while its counter is above 0.
"""

from __future__ import annotations

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit
from warpreg.timing.core.columns import Cause, causes, code, machine, ops, warps
from warpreg.timing.core.inflight import hold, mark
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import OpRow, Pc, SmRow, WarpRow
from warpreg.timing.sm import issue, writeback

COUNTER_MASK = 7


@stands_for(issue.enter_scoreboard, when.CONTROL_CODES)
def enter_scoreboard(c: Core, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    """An instruction that issues increments its counters."""
    c.rows[op, ops.LEFT] = c.code[pc, code.WRITES_END] - c.code[pc, code.WRITES]
    _increment(c, warp, pc, c.code[pc, code.CONTROL] >> code.WRITE_SHIFT & COUNTER_MASK)
    _increment(c, warp, pc, c.code[pc, code.CONTROL] >> code.READ_SHIFT & COUNTER_MASK)


def _increment(c: Core, warp: WarpRow, pc: Pc, counter: int) -> None:
    if counter == 0:
        return
    words = c.machine[machine.WORDS]
    kind = c.code[pc, code.WAIT_CLASS]
    own = bit(counter - 1)
    c.rows[warp, warps.COUNTERS + (counter - 1)] += 1
    c.rows[warp, warps.BUSY] |= own
    if kind != 0:
        c.rows[warp, warps.BUSY + (kind & code.CLASS_BITS) * words] |= own
        if kind & code.LONG_BIT != 0:
            c.rows[warp, warps.BUSY + warps.LONG_SET * words] |= own


def _decrement(c: Core, warp: WarpRow, counter: int) -> None:
    if counter == 0:
        return
    left = c.rows[warp, warps.COUNTERS + (counter - 1)] - 1
    c.rows[warp, warps.COUNTERS + (counter - 1)] = left
    if left == 0:
        words = c.machine[machine.WORDS]
        for kind in range(warps.BUSY_SETS):
            c.rows[warp, warps.BUSY + kind * words] &= ~bit(counter - 1)
    mark(c, warp)


@stands_for(ports.sources_read, when.CONTROL_CODES)
def sources_read(c: Core, op: OpRow) -> None:
    """All sources of an instruction are read."""
    _decrement(c, c.rows[op, ops.WARP], c.code[c.rows[op, ops.PC], code.CONTROL] >> code.READ_SHIFT & COUNTER_MASK)


@stands_for(ports.results_written, when.CONTROL_CODES)
def results_written(c: Core, op: OpRow) -> None:
    """An instruction is complete."""
    _decrement(c, c.rows[op, ops.WARP], c.code[c.rows[op, ops.PC], code.CONTROL] >> code.WRITE_SHIFT & COUNTER_MASK)


@stands_for(writeback.write_cell, when.CONTROL_CODES)
def write_cell(c: Core, warp: WarpRow, pc: Pc, cell: int) -> None:
    """In place of `writeback.write_cell`: cells of registers are in no scoreboard."""


@stands_for(ports.stall, when.CONTROL_CODES)
def stall(c: Core, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> None:
    """The warp may issue again when its stall count is over."""
    hold(c, sm, warp, now + (c.code[pc, code.CONTROL] & code.STALL_BITS), causes.ALU, now)


@stands_for(ports.unfetched, when.CONTROL_CODES)
def unfetched(c: Core) -> Cause:
    """The cause of a stall count."""
    return causes.ALU


@stands_for(ports.exceeds_limit, when.CONTROL_CODES)
def exceeds_limit(c: Core, warp: WarpRow, head: Pc) -> bool:
    """Whether the counter that a DEPBAR at the head names is above what it allows."""
    control = c.code[head, code.CONTROL]
    counter = control >> code.LIMIT_SHIFT & COUNTER_MASK
    return counter != 0 and c.rows[warp, warps.COUNTERS + (counter - 1)] > control >> code.ALLOWED_SHIFT
