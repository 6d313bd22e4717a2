"""Search for the buffer of global memory that contains an address."""

from __future__ import annotations

from warpreg.simt.block.native_records import SiteField, Slot, slot
from warpreg.simt.llvm.emitter import I1, I64, Code, Value


def find_buffer(
    code: Code, launch: Value, site: Value, address: Value, size: int, alignment: int = 1, is_constant: bool = False
) -> Value:
    """Whether a buffer contains the bytes, which is then cached in the site (binary search over ascending buffers)."""
    reach = max(size, alignment)
    table = slot(code, launch, Slot.CONSTANTS if is_constant else Slot.BUFFERS)
    count = slot(code, launch, Slot.CONSTANT_COUNT if is_constant else Slot.BUFFER_COUNT)
    low, high = code.var(code.const(I64, 0)), code.var(count)
    with code.loop():
        with code.if_(low.get() >= high.get()):
            code.break_()
        middle = (low.get() + high.get()) >> 1
        with code.if_else((table + middle * 16).load(I64) <= address) as (at_or_after, before):
            with at_or_after:
                low.set(middle + 1)
            with before:
                high.set(middle)
    is_inside = code.var(code.const(I1, 0))
    with code.if_(low.get() != 0):
        row = table + (low.get() - 1) * 16
        first, end = row.load(I64), (row + 8).load(I64)
        with code.if_((address < end) & (end - address >= reach)):
            (site + SiteField.FIRST).store(first)
            (site + SiteField.SPAN).store(end - first - (size - 1))
            is_inside.set(code.const(I1, 1))
    return is_inside.get()
