"""Where the widths of results are, for designs that ask for them.

They stand behind the access records of a warp, eight to a word of ``Core.slab``, one for each result row that the warp
writes, in order; the last word of the warp's records says how many words they take.  ``plan.widths`` is the same memory
by bytes.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import machine, ops, warps
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import OpRow, Pc, WarpRow
from warpreg.timing.hooks import adapters

WORD_BYTES = 8


@stands_for(adapters.begin_widths, when.WIDTHS)
def begin_widths(c: Core, warp: WarpRow) -> None:
    c.rows[warp, warps.RESULTS] = 0


@stands_for(ports.take_widths, when.WIDTHS)
def take_widths(c: Core, d: Any, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    c.rows[op, c.machine[machine.OP_RESULT]] = c.rows[warp, warps.RESULTS]
    c.rows[warp, warps.RESULTS] += d.program.result_start[pc + 1] - d.program.result_start[pc]


@stands_for(adapters.see_widths, when.WIDTHS)
def see_widths(c: Core, d: Any, op: OpRow) -> None:
    found = c.rows[op, c.machine[machine.OP_RESULT]]
    _point(c, d, c.rows[op, ops.WARP], c.rows[op, ops.PC], found)


@stands_for(adapters.see_widths_of_head, when.WIDTHS)
def see_widths_of_head(c: Core, d: Any, warp: WarpRow, pc: Pc) -> None:
    _point(c, d, warp, pc, c.rows[warp, warps.RESULTS])


def _point(c: Core, d: Any, warp: WarpRow, pc: Pc, result: int) -> None:
    """The results of an instruction are those from this one on, of all that its warp writes."""
    end = c.rows[warp, warps.RECORDS_END]
    first = WORD_BYTES * (end - 1 - c.slab[end - 1])
    d.plan.width_at[0] = first + result - d.program.result_start[pc]
