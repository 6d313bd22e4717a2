"""Recording of value widths: the bytes of a written warp-register that are significant.

A value's width is the least k in 1..4 such that every lane is the sign extension of its low k bytes.  All 32 lanes
count, inactive ones with their old content (thesis, section 2.6).  A 64-bit result records two words, the low one
first; predicates and the result of ``bar.red``, which is available when the barrier is released, record nothing.
"""

from __future__ import annotations

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.records import Slot, set_slot, slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, Value, lanes_of


def record(values: BlockValues, cells: tuple[Cell, ...], result: Value, signed: bool, guard: Value | None) -> None:
    """Append the widths of the words that ``result`` writes to a register made of ``cells``."""
    if cells[0].bits == 1:
        return
    code = values.code
    bits = max(32, cells[0].bits if len(set(cells)) == 1 else 32 * len(cells))
    lanes = values.active & guard if guard else values.active
    merged = lanes.select(values.resized(result, bits, signed), values.read(cells, bits))
    cursor = slot(code, values.launch, Slot.WIDTHS)
    for word in range(bits // 32):
        part = (merged >> 32 * word).trunc(lanes_of(I32)) if bits > 32 else merged
        cursor.store(_width(part))
        cursor = cursor + 1
    set_slot(values.launch, Slot.WIDTHS, cursor)


def _width(value: Value) -> Value:
    """Bytes of the widest lane: the bits up to the highest one that differs from the sign, plus a sign bit."""
    code = value.code
    sign = Value(code, code.builder.ashr(value.llvm, ir.Constant(value.type, [31] * 32)))
    highest = code.intrinsic("llvm.vector.reduce.or.v32i32", I32, [value ^ sign])
    zeros = code.intrinsic("llvm.ctlz.i32", I32, [highest, code.const(ir.IntType(1), 0)])
    return ((code.const(I32, 33 + 7) - zeros) >> 3).trunc(I8)
