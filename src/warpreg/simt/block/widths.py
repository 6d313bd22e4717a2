"""Recording of value widths: the bytes of a written warp-register that are significant.

A value's width is the least k in 1..4 such that every lane is the sign extension of its low k bytes.  All 32 lanes
count, inactive ones with their old content (thesis, section 2.6); a register that a warp has not written holds 0.  A
64-bit result records two words, the low one first; predicates and the result of ``bar.red``, which is available when
the barrier is released, record nothing.

Values of the executor have storage of their own each, so the contents of the registers are kept beside it.  Patterns,
if they are recorded, share the byte of the width (`warpreg.trace.patterns`).
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.lane_reduction import RESULTS, SignificantBits
from warpreg.simt.block.native_records import Slot, set_slot, slot
from warpreg.simt.block.patterns import Patterns
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, Value, apart, lanes_of

SPARE_BYTES = RESULTS
"""How far a store may go beyond the last width."""


class Widths:
    """Records the widths of one native function, and patterns if requested; ``contents``: where the content of each
    register is kept.
    """

    def __init__(self, values: BlockValues, contents: Mapping[int, Cell], patterns: bool = False) -> None:
        self._values = values
        self._code = values.code
        self._contents = contents
        self._bits = SignificantBits(values.code)
        self._patterns = Patterns(values) if patterns else None
        self._stored = 0
        self._cursor: Value | None = None

    def record(self, registers: tuple[int, ...], result: Value, signed: bool, guard: Value | None) -> None:
        """Append the widths of ``result``, which is written to the ``registers`` of these numbers."""
        lanes = self._values.active & guard if guard else self._values.active
        cells = dict.fromkeys(self._contents[register] for register in registers)
        value = self._values.resized(result, sum(cell.bits for cell in cells), signed)
        for position, cell in enumerate(cells):
            word = (value >> 32 * position).trunc(lanes_of(I32)) if len(cells) > 1 else value
            self._add(self._written(cell, lanes, word), lanes)

    def flush(self) -> None:
        """Store what is pending; the function ends."""
        if self._bits.count:
            self._store_pending()
        if self._cursor is not None:
            set_slot(self._values.launch, Slot.WIDTHS, self._cursor + self._stored)

    def _written(self, cell: Cell, lanes: Value, value: Value) -> Value:
        """The content of a register after a write to some lanes."""
        address = self._values.registers + cell.offset
        content = lanes.select(value, apart(address.load(value.type, align=64)))
        address.store(content, align=64)
        return content

    def _add(self, value: Value, written: Value) -> None:
        """Take up the content of a register of one or more words."""
        words = value.type.element.width // 32
        if self._bits.count + words > RESULTS:
            self._store_pending()
        self._bits.add(value.bitcast(ir.VectorType(I32, 32 * words)), words)
        if self._patterns:
            self._patterns.add(value, written)

    def _store_pending(self) -> None:
        """Store the bytes of all results in their order."""
        count, bits = self._bits.count, self._bits.taken()
        zeros = self._code.intrinsic("llvm.ctlz.v16i32", bits.type, [bits, self._code.const(ir.IntType(1), 0)])
        bytes_ = (self._code.const(bits.type, 33 + 7) - zeros) >> 3
        if self._patterns:
            bytes_ = bytes_ + (self._patterns.taken() << 2)
        if self._cursor is None:
            self._cursor = slot(self._code, self._values.launch, Slot.WIDTHS)
        (self._cursor + self._stored).store(bytes_.trunc(ir.VectorType(I8, RESULTS)), align=1)
        self._stored += count
