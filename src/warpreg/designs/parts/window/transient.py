"""Values that need no register, and the register demand without them (thesis, sections 3.1 and 3.4.2).

A result that only the collector takes has no home in the register file.  A full collector evicts its oldest entry, also
inside the window, and such a value would then have to be saved (section 3.4.3).  So a value needs no register only if
its entry cannot become the oldest of a full collector before its last read, whenever results arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.window.destinations import Destination, Needs, needs_after
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel

Classes = NDArray[np.uint8]


@dataclass(frozen=True)
class Transience:
    """The proof for one classification and a collector of so many ``entries``."""

    view: WindowView
    window: Window
    classes: Classes
    entries: int

    @cached_property
    def needs(self) -> list[Needs]:
        return needs_after(self.view, self.window)

    def is_proved(self, pc: int, row: int, register: int, partial: bool, value: int) -> bool:
        """Whether no order of the warp evicts the result before its last read.

        An entry leaves a full first-in first-out collector when ``entries`` others have entered after it.  Registers
        that may enter are counted once: while the value is there, what entered after it is there too.  A partial
        result may join an older entry of its register, so nothing is known of its place in the order.
        """
        if self.classes[row] & Destination.FILE:
            return False
        if self.classes[row] == Destination.NEITHER:
            return True
        if partial:
            return False
        entering = {other for _, other in self._taken(pc)} | self._late(pc)
        for later in self._until_last_read(pc, value):
            entering |= {*self.view.sources(later), *(other for _, other in self._taken(later))}
        return len(entering - {register}) < self.entries

    def _taken(self, pc: int) -> Iterator[tuple[int, int]]:
        """The results of an instruction that enter the collector."""
        for row, register, _ in self.view.results(pc):
            if self.classes[row] & Destination.COLLECTOR:
                yield row, register

    def _late(self, pc: int) -> set[int]:
        """Registers whose results may still be under way when the instruction issues, and inside the window later."""
        registers: set[int] = set()
        seen: set[int] = set()
        points = {pc}
        for _ in range(self.window.length - 1):
            points = {before for point in points for before in self._before(point)} - seen
            seen |= points
            registers |= {register for point in points for _, register in self._taken(point)}
        return registers

    def _until_last_read(self, pc: int, value: int) -> set[int]:
        """The instructions after ``pc`` in any order of the warp, as long as the value is read once more after each."""
        pcs: set[int] = set()
        work = [pc]
        while work:
            for later in self._after(work.pop()):
                needed = self.needs[later].persistent[-1] & ~self.view.values_of(self.view.kills[later])
                if later not in pcs and needed >> value & 1:
                    pcs.add(later)
                    work.append(later)
        return pcs

    def _after(self, pc: int) -> Iterator[int]:
        """The instructions that the warp may issue next."""
        block = self._blocks[pc]
        if pc + 1 in self.view.block_pcs(block):
            yield pc + 1
        else:
            yield from self._firsts(self.view.successors, block)

    def _before(self, pc: int) -> Iterator[int]:
        """The instructions that the warp may have issued last."""
        block = self._blocks[pc]
        if pc - 1 in self.view.block_pcs(block):
            yield pc - 1
        else:
            yield from self._lasts(self.view.predecessors, block)

    def _firsts(self, graph: tuple[tuple[int, ...], ...], block: int) -> Iterator[int]:
        return (pcs[0] for pcs in self._next_pcs(graph, block))

    def _lasts(self, graph: tuple[tuple[int, ...], ...], block: int) -> Iterator[int]:
        return (pcs[-1] for pcs in self._next_pcs(graph, block))

    def _next_pcs(self, graph: tuple[tuple[int, ...], ...], block: int) -> Iterator[range]:
        """The instructions of the next blocks that have any."""
        seen: set[int] = set()
        work = list(graph[block])
        while work:
            following = work.pop()
            if following in seen:
                continue
            seen.add(following)
            if pcs := self.view.block_pcs(following):
                yield pcs
            else:
                work.extend(graph[following])

    @cached_property
    def _blocks(self) -> list[int]:
        return [block.index for block in self.view.kernel.blocks for _ in block.instructions]


def without_register(kernel: Kernel, program: Program, window: Window, classes: Classes, entries: int) -> set[int]:
    """The numbers of the values (of `warpreg.analysis.values`) that need no register.

    Several results may be one value, because a common read may find any of them; then all must be proved.
    """
    proof = Transience(WindowView(kernel, program), window, classes, entries)
    found = proof.view.values
    refused = {number for number, value in enumerate(found.values) if value.undefined or not value.definitions}
    results: set[int] = set()
    for pc in proof.view.pcs:
        for (row, register, partial), number in zip(proof.view.results(pc), proof.view.written_values(pc), strict=True):
            results.add(number)
            if number not in refused and not proof.is_proved(pc, row, register, partial, number):
                refused.add(number)
    return results - refused
