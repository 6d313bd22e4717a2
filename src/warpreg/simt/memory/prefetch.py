"""Prefetching of what a memory instruction accesses a few executions later."""

from __future__ import annotations

from warpreg.simt.block.native_records import SiteField
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, I64, Code, Value

AHEAD, LINE = 14, 64
"""Executions of an access between prefetching and use, and the bytes of a cache line.  With 8, 10, 12, 14 and 16,
`reduction` takes 38, 35, 34, 31 and 29.5 ms on znver5, `nw` 69.5, 69.7, 73, 72 and 73.
"""


def prefetch(code: Code, site: Value, base: Value, bias: Value, writes: bool) -> None:
    """Fetch what an instruction accesses `AHEAD` executions later if its addresses go on in equal steps.

    ``base`` is the device address of lane 0, ``bias`` that of the host minus it.  A row is two lines of the host's
    caches.  A wrong guess is harmless: a prefetch does not fault.
    """
    last = (site + SiteField.LAST).load(I64)
    (site + SiteField.LAST).store(base)
    ahead = base + bias + (base - last) * AHEAD
    for line in (0, LINE):
        pointer = Value(code, code.pointer(ahead + line, I8))
        numbers = (int(writes), 3, 1)  # for writing, in all caches, data
        code.intrinsic("llvm.prefetch.p0", ir.VoidType(), [pointer, *(code.const(I32, number) for number in numbers)])
