"""Recording of value widths: the bytes of a written warp-register that are significant.

A value's width is the least k in 1..4 such that every lane is the sign extension of its low k bytes.  All 32 lanes
count, inactive ones with their old content (thesis, section 2.6); a register that a warp has not written holds 0.  A
64-bit result records two words, the low one first; predicates and the result of ``bar.red``, which is available when
the barrier is released, record nothing.

Values of the executor have storage of their own each, so the contents of the registers are kept beside it.  Results
are reduced together: a *partial* is a vector of 16 words, in which lane i belongs to result i modulo their number.
Two partials with equal numbers of results merge into one, until the 16 lanes are 16 results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import Slot, set_slot, slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I8, I32, Value, constant, lanes_of

PARTIAL_LANES = 16
SPARE_BYTES = PARTIAL_LANES
"""How far a store may go beyond the last width."""


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Bits that differ from the sign, for results of these numbers; None repeats another one."""

    results: tuple[int | None, ...]
    bits: Value


class Widths:
    """Records the widths of one native function; ``contents``: where the content of each register is kept."""

    def __init__(self, values: BlockValues, contents: Mapping[int, Cell]) -> None:
        self._values = values
        self._code = values.code
        self._contents = contents
        self._current: dict[Cell, Value] = {}
        self._partials: list[_Partial] = []
        self._pending = 0
        self._stored = 0
        self._cursor: Value | None = None

    def record(self, registers: tuple[int, ...], result: Value, signed: bool, guard: Value | None) -> None:
        """Append the widths of ``result``, which is written to the ``registers`` of these numbers."""
        lanes = self._values.active & guard if guard else self._values.active
        cells = dict.fromkeys(self._contents[register] for register in registers)
        value = self._values.resized(result, sum(cell.bits for cell in cells), signed)
        for position, cell in enumerate(cells):
            word = (value >> 32 * position).trunc(lanes_of(I32)) if len(cells) > 1 else value
            self._add(self._written(cell, lanes, word))

    def flush(self) -> None:
        """Store what is pending; the function ends."""
        if self._pending:
            self._store_pending()
        if self._cursor is not None:
            set_slot(self._values.launch, Slot.WIDTHS, self._cursor + self._stored)
        for cell, value in self._current.items():
            self._address(cell).store(value, align=64)

    def _written(self, cell: Cell, lanes: Value, value: Value) -> Value:
        """The content of a register after a write to some lanes."""
        old = self._current.get(cell)
        if old is None:
            old = self._address(cell).load(value.type, align=64)
        self._current[cell] = lanes.select(value, old)
        return self._current[cell]

    def _address(self, cell: Cell) -> Value:
        return self._values.registers + cell.offset

    def _add(self, value: Value) -> None:
        """Take up the content of a register of one or more words."""
        words = value.type.element.width // 32
        type_ = ir.VectorType(I32, 32 * words)
        flat = value.bitcast(type_)
        sign = Value(self._code, self._code.builder.ashr(flat.llvm, constant(type_, 31)))
        differing = flat ^ sign
        count = 32 * words
        while count > PARTIAL_LANES:
            count //= 2
            differing = self._lanes(differing, range(count)) | self._lanes(differing, range(count, 2 * count))
        if self._pending + words > PARTIAL_LANES:
            self._store_pending()
        self._merge_in(_Partial(tuple(range(self._pending, self._pending + words)), differing))
        self._pending += words

    def _merge_in(self, partial: _Partial) -> None:
        """Add a partial; those that stay have different numbers of results."""
        equal = next((other for other in self._partials if len(other.results) == len(partial.results)), None)
        if equal is None:
            self._partials.append(partial)
        else:
            self._partials.remove(equal)
            self._merge_in(self._merged(equal, partial))

    def _merged(self, first: _Partial, second: _Partial) -> _Partial:
        """Both in one vector, each with half as many lanes a result."""
        step = len(first.results)
        groups = range(0, PARTIAL_LANES, 2 * step)
        halves = [
            [
                lane
                for g in groups
                for lane in (
                    *range(g + half, g + half + step),
                    *range(PARTIAL_LANES + g + half, PARTIAL_LANES + g + half + step),
                )
            ]
            for half in (0, step)
        ]
        low, high = (self._lanes(first.bits, half, second.bits) for half in halves)
        return _Partial((*first.results, *second.results), low | high)

    def _store_pending(self) -> None:
        """Store the widths of all partials in the order of their results."""
        waiting = sorted(self._partials, key=lambda one: len(one.results), reverse=True)
        partial = waiting.pop()
        while len(partial.results) < PARTIAL_LANES:
            meets = bool(waiting) and len(waiting[-1].results) == len(partial.results)
            other = waiting.pop() if meets else _Partial((None,) * len(partial.results), partial.bits)
            partial = self._merged(partial, other)
        self._partials = []
        type_ = partial.bits.type
        zeros = self._code.intrinsic("llvm.ctlz.v16i32", type_, [partial.bits, self._code.const(ir.IntType(1), 0)])
        bytes_ = ((self._code.const(type_, 33 + 7) - zeros) >> 3).trunc(ir.VectorType(I8, PARTIAL_LANES))
        order = [partial.results.index(number) for number in range(self._pending)]
        ordered = self._lanes(bytes_, [*order, *[0] * (PARTIAL_LANES - len(order))])
        if self._cursor is None:
            self._cursor = slot(self._code, self._values.launch, Slot.WIDTHS)
        (self._cursor + self._stored).store(ordered, align=1)
        self._stored += self._pending
        self._pending = 0

    def _lanes(self, value: Value, lanes: Any, second: Value | None = None) -> Value:
        """Some lanes of one or two vectors."""
        lanes = list(lanes)
        other = second.llvm if second else ir.Constant(value.type, ir.Undefined)
        mask = ir.Constant(ir.VectorType(I32, len(lanes)), lanes)
        return Value(self._code, self._code.builder.shuffle_vector(value.llvm, other, mask))
