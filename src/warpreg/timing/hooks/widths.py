"""Where the widths of results are, for designs that ask for them.

They stand behind the access records of a warp, eight to a word of ``Core.slab``, one for each result row that the warp
writes, in order; the last word of the warp's records says how many words they take.  ``plan.widths`` is the same memory
by bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piecewise_numba.natives import Function
from warpreg.timing.core import ports
from warpreg.timing.core.columns import machine, ops, warps
from warpreg.timing.core.columns.typed import OpRow, Pc, WarpRow
from warpreg.timing.core.state import Core
from warpreg.timing.hooks import adapters

WORD_BYTES = 8


def begin_widths(c: Core, warp: WarpRow) -> None:
    c.rows[warp, warps.RESULTS] = 0


def take_widths(c: Core, d: Any, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    c.rows[op, c.machine[machine.OP_RESULT]] = c.rows[warp, warps.RESULTS]
    c.rows[warp, warps.RESULTS] += d.program.result_start[pc + 1] - d.program.result_start[pc]


def see_widths(c: Core, d: Any, op: OpRow) -> None:
    end = c.rows[c.rows[op, ops.WARP], warps.RECORDS_END]
    first = WORD_BYTES * (end - 1 - c.slab[end - 1]) + c.rows[op, c.machine[machine.OP_RESULT]]
    d.plan.width_at[0] = first - d.program.result_start[c.rows[op, ops.PC]]


FED: Mapping[Function, Function] = {
    ports.take_widths: take_widths,
    adapters.begin_widths: begin_widths,
    adapters.see_widths: see_widths,
}
"""What takes the place of what in the core where a design asks for widths."""
