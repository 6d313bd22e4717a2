"""Recording of patterns: what the lanes of a written warp-register have in common (`warpreg.trace.patterns`).

For each result word three words are collected: the lanes whose step from the lane before is the first step, that step,
and the lanes that were written.  With the significant bits of the differences to the first lane
(`warpreg.simt.block.lane_reduction`) they make the pattern, for sixteen results at a time.
"""

from __future__ import annotations

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.lane_reduction import RESULTS, SignificantBits, chosen
from warpreg.simt.block.native_records import Warp, record_of
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I32, LANES, MASK, Value, constant
from warpreg.trace.patterns import DELTAS_AT, PARTIAL_AT, Deltas, Shape

WORDS = ir.VectorType(I32, RESULTS)
EVERY, BEFORE = tuple(range(LANES)), (0, *range(LANES - 1))
"""Lanes, and the ones before them; lane 0 has none, so its step says nothing."""
FIRST, UPPER_HALF = 1, 1 << LANES // 2
"""Lane 0, and the first lane of the upper half."""


class Patterns:
    """Collects the patterns of up to 16 result words of one native function."""

    def __init__(self, values: BlockValues) -> None:
        self._values = values
        self._code = values.code
        self._deltas = SignificantBits(values.code)
        self._even: list[Value] = []
        self._steps: list[Value] = []
        self._written: list[Value] = []
        self._threads: Value | None = None

    def add(self, value: Value, written: Value) -> None:
        """Take up the content of a register of one or more words after a write to some lanes."""
        words = value.type.element.width // 32
        flat = value.bitcast(ir.VectorType(I32, LANES * words))
        first = chosen(flat, [word for _ in range(LANES) for word in range(words)])
        exists = chosen(self._lanes_of_threads().bitcast(MASK), [lane for lane in range(LANES) for _ in range(words)])
        deltas = exists.select(flat - first, self._code.const(flat.type, 0))
        self._deltas.add(deltas, words)
        for word in range(words):
            own, before = (chosen(deltas, [words * lane + word for lane in lanes]) for lanes in (EVERY, BEFORE))
            step = deltas.lane(words + word)
            self._even.append((own - before == step.splat()).bitcast(I32))
            self._steps.append(step)
            self._written.append(written.bitcast(I32))

    def taken(self) -> Value:
        """The patterns of all result words, in their order, in a vector of 16 words; forgets them."""
        threads = self._vector([self._lanes_of_threads()] * RESULTS)
        even = self._vector(self._even) | ~threads | FIRST
        step, partial = self._vector(self._steps), self._vector(self._written) != threads
        bits = self._deltas.taken()
        self._even, self._steps, self._written = [], [], []

        by_step = self._number(Shape.STRIDE)
        for number, known in ((4, Shape.STRIDE_4), (1, Shape.STRIDE_1), (0, Shape.CONSTANT)):
            by_step = (step == number).select(self._number(known), by_step)
        of_halves = by_step + int(Shape.HALVES_CONSTANT)
        is_whole, is_halves = even == FULL, even | UPPER_HALF == FULL
        shape = is_whole.select(by_step, is_halves.select(of_halves, self._number(Shape.UNEVEN)))

        deltas = (bits >= 1 << 7).zext(WORDS) + (bits >= 1 << 15).zext(WORDS)
        deltas = (shape == int(Shape.CONSTANT)).select(self._number(Deltas.NONE), deltas)
        return shape | deltas << DELTAS_AT | partial.zext(WORDS) << PARTIAL_AT

    def _lanes_of_threads(self) -> Value:
        """The lanes of the running warp that have a thread."""
        if self._threads is None:
            self._threads = (record_of(self._values.registers) + Warp.FIRST_MASK).load(I32)
        return self._threads

    def _number(self, number: int) -> Value:
        return self._code.const(WORDS, int(number))

    def _vector(self, words: list[Value]) -> Value:
        vector = self._code.const(WORDS, 0)
        for place, word in enumerate(words):
            inserted = self._code.builder.insert_element(vector.llvm, word.llvm, constant(I32, place))
            vector = Value(self._code, inserted)
        return vector
