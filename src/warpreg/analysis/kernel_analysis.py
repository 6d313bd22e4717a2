"""What a design can ask about a kernel: edges, liveness, last reads, loops and frequencies, each computed when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.dominators import DominatorTree, dominators, post_dominators
from warpreg.analysis.last_reads import last_reads, waiting_lanes
from warpreg.analysis.liveness import liveness
from warpreg.analysis.loops import LoopForest, loops
from warpreg.analysis.reconvergence import reconvergence
from warpreg.analysis.trip_counts import Trip, static_frequencies, trips
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel

Frequencies = NDArray[np.int64]


class NoProfileError(WarpregError):
    """Block frequencies were requested without a recorded run."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """Analyses of one kernel with architected registers.

    Blocks and pcs are numbered as in the program table.  Arrays of registers have a column per warp-register;
    predicates and uniform registers have none.  ``recorded`` computes the block frequencies of the recorded run.
    """

    kernel: Kernel
    recorded: Callable[[], Frequencies] | None = None

    @property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """By block: the blocks that may follow, each once."""
        return control_flow(self.kernel).successors

    @property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """By block: the blocks that it may follow, ascending."""
        return control_flow(self.kernel).predecessors

    @cached_property
    def block_of(self) -> NDArray[np.int32]:
        """By pc: the block of the instruction, int32[pcs]."""
        first = self.kernel.first_pcs()
        return np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))

    @cached_property
    def live_before(self) -> NDArray[np.bool_]:
        """Whether a thread at this pc may still read the register's value, bool[pcs, registers].

        Threads are considered one by one: lanes on the other side of a divergent branch are in ``waiting``.
        """
        return self._registers(before for before, _ in self._live)

    @cached_property
    def live_after(self) -> NDArray[np.bool_]:
        """The same after the instruction has read its sources and written its results, bool[pcs, registers]."""
        return self._registers(after for _, after in self._live)

    @cached_property
    def waiting(self) -> NDArray[np.bool_]:
        """Whether an inactive lane may need its value of the register while the block runs, bool[blocks, registers].

        These lanes are on the other side of a branch around the block, which may have diverged.  A register of a warp
        is free where it is neither live nor waiting.
        """
        return self._registers(waiting_lanes(self.kernel, liveness(self.kernel).live_in))

    @cached_property
    def last_reads(self) -> NDArray[np.bool_]:
        """By source operand: whether no lane of the warp needs the value once it is read, bool[source operands]."""
        return np.array(last_reads(self.kernel), np.bool_)

    @property
    def loops(self) -> LoopForest:
        """The natural loops, outer ones first, with depths."""
        return loops(self.kernel)

    @property
    def trips(self) -> tuple[Trip | None, ...]:
        """By loop: its constant trip count, None where none is proved."""
        return trips(self.kernel)

    @property
    def dominators(self) -> DominatorTree:
        """Dominators from the entry block."""
        return dominators(self.kernel)

    @property
    def post_dominators(self) -> DominatorTree:
        """Post-dominators from a virtual exit."""
        return post_dominators(self.kernel)

    @property
    def reconvergence(self) -> tuple[int, ...]:
        """By block: where lanes that diverge at its end meet again; -1: nowhere."""
        return reconvergence(self.kernel)

    @cached_property
    def frequencies(self) -> Frequencies:
        """By block: how often warps of the recorded run entered it, int64[blocks].

        Raises NoProfileError without a run.
        """
        if self.recorded is None:
            raise NoProfileError(
                f"kernel {self.kernel.name}: block frequencies need a recorded run, and a design with profile=True"
            )
        return self.recorded()

    def static_frequencies(self, unknown: float) -> NDArray[np.float64]:
        """By block: how often a warp enters it, from trip counts alone, float64[blocks]; ``unknown``: the trip count of
        a loop without a constant one.
        """
        return static_frequencies(self.kernel, unknown)

    @cached_property
    def _live(self) -> list[tuple[int, int]]:
        """By pc: cells live before and after, as bit sets."""
        live = liveness(self.kernel)
        found = {pc: (before, after) for b in self.kernel.blocks for pc, before, after in live.backward(b.index)}
        return [found[pc] for pc in range(self.kernel.instruction_count)]

    @cached_property
    def _cells(self) -> NDArray[np.int64]:
        """By register: its cell, or one that is never live if the code does not name it."""
        cells = liveness(self.kernel).accesses.cells
        words = {word: cells.named(f"R{word}") for register in cells.registers for word in register.words}
        count = max(self.kernel.register_count, 1 + max(words, default=-1))
        return np.array([words.get(word, len(cells)) for word in range(count)], np.int64)

    def _registers(self, sets: Iterable[int]) -> NDArray[np.bool_]:
        """Bit sets of cells as rows of registers."""
        size = len(liveness(self.kernel).accesses.cells) // 8 + 1
        data = b"".join(bits.to_bytes(size, "little") for bits in sets)
        rows = np.frombuffer(data, np.uint8).reshape(-1, size)
        return np.unpackbits(rows, axis=1, bitorder="little")[:, self._cells].astype(np.bool_)
