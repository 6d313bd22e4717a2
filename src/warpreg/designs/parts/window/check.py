"""Verifies the destinations of results: a read must find its value in the window or in the register file.

A forward may-analysis along the orders of the warp that shares no rule with `destinations`: by register, it follows
values that the register file may lack for good, and how long ago they may have been touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.window.destinations import Destination
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel

Lacking = dict[int, int]
"""By value that the file lacks, the most instructions since the last touch of its register; above the reach: gone."""


@dataclass(frozen=True, slots=True)
class UnsavedRead:
    """A read of a value that may have left the window and was never to be written to the register file; if ``certain``
    it was written in the same block."""

    pc: int
    register: int
    certain: bool

    def __str__(self) -> str:
        return f"instruction {self.pc} reads R{self.register}, which may have left the window unsaved"


def findings(kernel: Kernel, program: Program, window: Window, bits: NDArray[np.uint8]) -> list[UnsavedRead]:
    """The reads that may not find their value, in order of pc."""
    walk = _Walk(WindowView(kernel, program), window, bits)
    entering: dict[int, Lacking] = {0: {}}
    work = [0]
    while work:
        block = work.pop()
        state = dict(entering[block])
        for _ in walk.through(block, state):
            pass
        for successor in walk.view.successors[block]:
            joined = _joined(entering.get(successor), state)
            if entering.get(successor) != joined:
                entering[successor] = joined
                work.append(successor)
    own = {block: set(walk.through(block, {})) for block in entering}
    return [
        UnsavedRead(pc, register, (pc, register) in own[block])
        for block in sorted(entering)
        for pc, register in walk.through(block, dict(entering[block]))
    ]


def _joined(one: Lacking | None, other: Lacking) -> Lacking:
    known = one or {}
    return {register: max(known.get(register, 0), other.get(register, 0)) for register in known.keys() | other.keys()}


@dataclass(frozen=True)
class _Walk:
    view: WindowView
    window: Window
    bits: NDArray[np.uint8]

    @property
    def gone(self) -> int:
        return self.window.reach + 1

    def through(self, block: int, lacking: Lacking) -> Iterator[tuple[int, int]]:
        """Apply a block's instructions to a state; yields pc and register of the reads that may be wrong."""
        for pc in self.view.block_pcs(block):
            for value in lacking:
                lacking[value] = min(lacking[value] + 1, self.gone)
            for register in dict.fromkeys(self.view.sources(pc)):
                values = self._lacking_of(register, lacking)
                if any(lacking[value] == self.gone and self.view.read_values[pc] >> value & 1 for value in values):
                    yield pc, register
                if self.window.extended:
                    self._touch(values, lacking, self.gone)
            for (row, register, partial), value in zip(
                self.view.results(pc), self.view.written_values(pc), strict=True
            ):
                self._write(register, value, int(self.bits[row]), partial, lacking)
            for value in [value for value in lacking if not self.view.needed_values[pc] >> value & 1]:
                del lacking[value]

    def _write(self, register: int, value: int, bits: int, partial: bool, lacking: Lacking) -> None:
        """Apply the write of a result; some lanes of older values of the register may stay."""
        older = self._lacking_of(register, lacking)
        if not partial:
            for other in older:
                del lacking[other]
            older = []
        if not bits & Destination.COLLECTOR:
            lacking.update(dict.fromkeys(older, self.gone))
            if not bits & Destination.FILE:
                lacking[value] = self.gone
        elif bits & Destination.FILE:
            for other in older:
                if lacking[other] < self.window.length:
                    del lacking[other]
        else:
            self._touch(older, lacking, self.window.length)
            lacking.setdefault(value, 0)

    def _lacking_of(self, register: int, lacking: Lacking) -> list[int]:
        values = self.view.values_of(1 << register)
        return [value for value in lacking if values >> value & 1]

    @staticmethod
    def _touch(values: list[int], lacking: Lacking, limit: int) -> None:
        """Touch values that are still in the window."""
        for value in values:
            if lacking[value] < limit:
                lacking[value] = 0
