"""Prefetching of what a memory instruction accesses later.

A wrong guess is harmless: a prefetch does not fault.
"""

from __future__ import annotations

from warpreg.simt.block.native_records import SiteField
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, I64, LANES, Code, Value

ROWS_AHEAD = 14
"""Rows of 32 lanes between prefetching and use.  With 8, 10, 12, 14 and 16, `reduction` takes 38, 35, 34, 31 and
29.5 ms on znver5, `nw` 69.5, 69.7, 73, 72 and 73; with 8, 14, 16, 24 and 32 in blocks, `vector-add` spends 16.3, 15.5,
15.7, 16.7 and 16.7 ms in native code."""

STEPS_AHEAD = 4
"""The same for larger steps.  With 14, 8 and 4, `nw` spends 54, 53 and 51.5 ms in native code: it accesses other rows
in between, for which lines that come too early would have to leave the cache."""

NEAR = 256
"""Bytes of the largest step that is a row or less."""

LINE = 64
"""Bytes of a cache line; a row of 32-bit values is two."""


def prefetch_row(code: Code, host: Value, lane_bytes: int, writes: bool) -> None:
    """Fetch the row `ROWS_AHEAD` behind the one at the host address ``host``.

    Warps that follow each other access neighbouring rows, also where each takes large steps in a loop.
    """
    _fetch(code, host + ROWS_AHEAD * LANES * lane_bytes, writes)


def prefetch_step(code: Code, site: Value, base: Value, bias: Value, writes: bool) -> None:
    """Fetch what an instruction accesses later if its addresses go on in equal steps.

    ``base`` is the device address of lane 0, ``bias`` that of the host minus it.
    """
    last = (site + SiteField.LAST).load(I64)
    (site + SiteField.LAST).store(base)
    step = base - last
    is_near = step + NEAR <= 2 * NEAR
    _fetch(code, base + bias + is_near.select(step * ROWS_AHEAD, step * STEPS_AHEAD), writes)


def _fetch(code: Code, host: Value, writes: bool) -> None:
    for line in (0, LINE):
        pointer = Value(code, code.pointer(host + line, I8))
        numbers = (int(writes), 3, 1)  # for writing, in all caches, data
        code.intrinsic("llvm.prefetch.p0", ir.VoidType(), [pointer, *(code.const(I32, number) for number in numbers)])
