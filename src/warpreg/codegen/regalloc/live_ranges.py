"""Live ranges over program points.

Instruction ``pc`` has two points: it reads at ``2 * pc`` and writes at ``2 * pc + 1``.  So a value last read by an
instruction does not interfere with its result, while two results of one instruction interfere.  Intersecting two ranges
is one ``&`` of integers, as long as the ranges and not as the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.analysis.accesses import members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.liveness import liveness
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Range:
    """A set of program points, none before ``first``; bit i of ``bits`` is for the point ``first + i``."""

    first: int
    bits: int

    def __or__(self, other: Range) -> Range:
        first = min(self.first, other.first)
        return Range(first, self.since(first) | other.since(first))

    def __len__(self) -> int:
        return self.bits.bit_count()

    @property
    def end(self) -> int:
        """The first point after all of its points."""
        return self.first + self.bits.bit_length()

    def since(self, point: int) -> int:
        """Its points from ``point`` on, as a bit set that begins there."""
        return self.bits << self.first - point if self.first >= point else self.bits >> point - self.first

    def meets(self, other: Range) -> bool:
        """Whether some point is in both."""
        late = max(self.first, other.first)
        return bool(self.since(late) & other.since(late))


def span(first: int, last: int) -> Range:
    """The points from ``first`` to ``last``, both included; at least one."""
    return Range(first, (2 << last - first) - 1)


@cached_analysis
def live_ranges(kernel: Kernel) -> Mapping[int, Range]:
    """The live range of every cell of `accesses`, gaps included; a result that is never read lives at its write."""
    live = liveness(kernel)
    table = live.accesses
    spans: list[list[Range]] = [[] for _ in range(len(table.cells))]
    for block in kernel.blocks:
        pcs = table.block_pcs(block.index)
        end = 2 * pcs.stop - 1
        until = dict.fromkeys(members(live.live_out[block.index]), end)
        merged = live.merged(block.index)
        for pc in reversed(pcs):
            for cell in table.written[pc]:
                if cell in merged[pc - pcs.start]:
                    spans[cell].append(span(2 * pc + 1, 2 * pc + 1))
                else:
                    spans[cell].append(span(2 * pc + 1, until.pop(cell, 2 * pc + 1)))
            for cell in table.read[pc]:
                if cell not in until:
                    until[cell] = 2 * pc
        for cell, last in until.items() if pcs else ():
            spans[cell].append(span(2 * pcs.start, last))
    return {cell: union(found) for cell, found in enumerate(spans)}


def union(ranges: list[Range]) -> Range:
    """All points of some ranges, at least one."""
    first = min(one.first for one in ranges)
    bits = 0
    for one in ranges:
        bits |= one.since(first)
    return Range(first, bits)
