"""Register pressure: the 32-bit registers occupied by live values."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.accesses import bit_set, members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.liveness import liveness
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Pressure:
    """``words[c]`` is the size of cell c; other fields are by block: words live at its start, and the maximum at any
    point."""

    words: tuple[int, ...]
    at_start: tuple[int, ...]
    highest: tuple[int, ...]


@cached_analysis
def pressure(kernel: Kernel) -> Pressure:
    """Register pressure of every block, predicates not counted."""
    live = liveness(kernel)
    cells = live.accesses.cells
    widths = [r.type.words if r.index < 0 else (0 if r.is_uniform else min(1, r.type.words)) for r in cells.registers]
    classes = [(w, bit_set(c for c, width in enumerate(widths) if width == w)) for w in sorted(set(widths) - {0})]

    def words(bits: int) -> int:
        return sum(w * (bits & mask).bit_count() for w, mask in classes)

    highest = []
    for block in kernel.blocks:
        bits = live.live_out[block.index]
        alive, demand = set(members(bits)), words(bits)
        most = demand
        for pc, changed in live.changes(block.index):
            unread = {cell for cell in live.accesses.written[pc] if cell not in alive}
            most = max(most, demand + sum(widths[cell] for cell in unread))
            demand += sum(widths[cell] if cell not in alive else -widths[cell] for cell in changed)
            alive.symmetric_difference_update(changed)
            most = max(most, demand)
        highest.append(most)
    return Pressure(tuple(widths), tuple(words(bits) for bits in live.live_in), tuple(highest))
