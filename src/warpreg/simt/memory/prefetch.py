"""Prefetching of what a memory instruction accesses a few executions later."""

from __future__ import annotations

from warpreg.simt.block.native_records import SiteField
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, I64, Code, Value

AHEAD, FAR_AHEAD, LINE = 14, 4, 64
"""Executions of an access between prefetching and use, if its steps are near and if they are far, and the bytes of a
cache line.  With 8, 10, 12, 14 and 16 near ones, `reduction` takes 38, 35, 34, 31 and 29.5 ms on znver5; with 14, 8 and
4 far ones, `nw` spends 54, 53 and 51.5 ms in native code."""

NEAR = 256
"""Bytes.  The accesses of a warp to one line after the other come one after the other; those to the rows of an array
have others in between, whose lines would be evicted."""


def prefetch(code: Code, site: Value, base: Value, bias: Value, writes: bool) -> None:
    """Fetch what an instruction accesses some executions later if its addresses go on in equal steps.

    ``base`` is the device address of lane 0, ``bias`` that of the host minus it.  A row is two lines of the host's
    caches.  A wrong guess is harmless: a prefetch does not fault.
    """
    last = (site + SiteField.LAST).load(I64)
    (site + SiteField.LAST).store(base)
    step = base - last
    ahead = base + bias + (step + NEAR <= 2 * NEAR).select(step * AHEAD, step * FAR_AHEAD)
    for line in (0, LINE):
        pointer = Value(code, code.pointer(ahead + line, I8))
        numbers = (int(writes), 3, 1)  # for writing, in all caches, data
        code.intrinsic("llvm.prefetch.p0", ir.VoidType(), [pointer, *(code.const(I32, number) for number in numbers)])
