"""Reduction of 32 lanes to one word for each of up to 16 results, all together.

A *partial* is a vector of 16 words, in which lane i belongs to result i modulo their number.  Two partials with equal
numbers of results merge into one, until the 16 lanes are 16 results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, Code, Value, constant

RESULTS = 16
"""Most results of one reduction, and the lanes of a partial."""


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Bits that differ from the sign, for results of these numbers; None repeats another one."""

    results: tuple[int | None, ...]
    bits: Value


class SignificantBits:
    """Collects words of which the bits that differ from the sign in any lane are wanted."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._partials: list[_Partial] = []
        self.count = 0
        """Results so far."""

    def add(self, flat: Value, words: int) -> None:
        """Take up a vector of 32 lanes of ``words`` words, the words of a lane side by side."""
        sign = Value(self._code, self._code.builder.ashr(flat.llvm, constant(flat.type, 31)))
        differing = flat ^ sign
        count = 32 * words
        while count > RESULTS:
            count //= 2
            differing = chosen(differing, range(count)) | chosen(differing, range(count, 2 * count))
        self._merge_in(_Partial(tuple(range(self.count, self.count + words)), differing))
        self.count += words

    def taken(self) -> Value:
        """The bits of all results, in their order, in a vector of 16 words; forgets them."""
        waiting = sorted(self._partials, key=lambda one: len(one.results), reverse=True)
        partial = waiting.pop()
        while len(partial.results) < RESULTS:
            meets = bool(waiting) and len(waiting[-1].results) == len(partial.results)
            other = waiting.pop() if meets else _Partial((None,) * len(partial.results), partial.bits)
            partial = _merged(partial, other)
        order = [partial.results.index(number) for number in range(self.count)]
        self._partials, self.count = [], 0
        return chosen(partial.bits, [*order, *[0] * (RESULTS - len(order))])

    def _merge_in(self, partial: _Partial) -> None:
        """Add a partial; those that stay have different numbers of results."""
        equal = next((other for other in self._partials if len(other.results) == len(partial.results)), None)
        if equal is None:
            self._partials.append(partial)
        else:
            self._partials.remove(equal)
            self._merge_in(_merged(equal, partial))


def _merged(first: _Partial, second: _Partial) -> _Partial:
    """Both in one vector, each with half as many lanes a result."""
    step = len(first.results)
    groups = range(0, RESULTS, 2 * step)
    halves = [
        [
            lane
            for g in groups
            for lane in (*range(g + half, g + half + step), *range(RESULTS + g + half, RESULTS + g + half + step))
        ]
        for half in (0, step)
    ]
    low, high = (chosen(first.bits, half, second.bits) for half in halves)
    return _Partial((*first.results, *second.results), low | high)


def chosen(value: Value, lanes: Iterable[int], second: Value | None = None) -> Value:
    """Some lanes of one or two vectors."""
    lanes = list(lanes)
    other = second.llvm if second else ir.Constant(value.type, ir.Undefined)
    mask = ir.Constant(ir.VectorType(I32, len(lanes)), lanes)
    return Value(value.code, value.code.builder.shuffle_vector(value.llvm, other, mask))
