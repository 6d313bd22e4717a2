"""Access counts of a timing run in the form of a replay: those of a design and those of unplanned operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from warpreg.counting.counts import Counts, add_unplanned, added_code, table_events
from warpreg.designs.interface.own_memory import traffic_events
from warpreg.designs.interface.program import lengths
from warpreg.designs.loading.design import Design
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.energy.counts import Structure
from warpreg.ir.kernel import Kernel
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.launch.binding import EntryArguments

MASK_BITS = 32
COUNTED_TOGETHER = 1 << 20
"""Visits of a batch that are counted together; a batch may be longer than memory."""


class Visits:
    """``visits`` int64[blocks]: visits of each basic block by the thread blocks that passed.

    A design has made the ``kernel`` of the ``recorded`` one.
    """

    def __init__(self, kernel: Kernel, recorded: Kernel | None = None) -> None:
        self.visits = np.zeros(len(kernel.blocks), np.int64)
        self._kernel, self._recorded = kernel, recorded or kernel

    @property
    def added(self) -> tuple[dict[str, int], int]:
        """As `added_code`."""
        return added_code(self._recorded, self._kernel, self.visits)

    def of(self, batches: Iterable[ThreadBlocks]) -> Iterator[ThreadBlocks]:
        """Yield the batches unchanged and count their visits."""
        for batch in batches:
            for first in range(0, batch.visits.size, COUNTED_TOGETHER):
                some = batch.visits[first : first + COUNTED_TOGETHER]
                self.visits += np.bincount(some >> MASK_BITS, minlength=self.visits.size)
            yield batch


def counts_of(design: Design, parameters: Any, outside: EntryArguments, visits: Visits) -> Counts:
    """Counts of a design at the end of a run, with ``parameters`` as configured."""
    program = outside.program
    accesses = outside.accesses.reshape(-1, 2, 2).copy()
    add_unplanned(accesses, visits.visits, program, outside.behaviour.hooks.keys())
    added, added_warp_instructions = visits.added
    return Counts(
        design=design.name,
        parameters=dataclasses.asdict(parameters),
        structures=design.structures(parameters),
        accesses=accesses,
        moves=outside.moves.copy(),
        events=dict(zip(design.events, outside.events.tolist(), strict=True))
        | table_events(outside.behaviour.tables, outside.plan.tables, ("lookups", "updates", "conflicts"))
        | traffic_events(outside.behaviour.hooks, outside.plan.traffic),
        warp_instructions=int(visits.visits @ lengths(program.first_pc)),
        spared=outside.plan.spared.reshape(-1, 2, 2).copy(),
        slices=outside.behaviour.banks.slices,
        added_instructions=added,
        added_warp_instructions=added_warp_instructions,
        main=design.declaration.main,
    )


def plain_counts(kernel: Kernel, visits: Visits) -> Counts:
    """Counts of the plain MRF for the kernel before any design changed it."""
    program = program_table(kernel)
    accesses = np.zeros((1, 2, 2), np.int64)
    of_kernel = visits.visits[: len(kernel.blocks)]
    add_unplanned(accesses, of_kernel, program, ())
    return Counts(
        design="mrf",
        parameters={},
        structures=(Structure("MRF"),),
        accesses=accesses,
        moves=np.zeros((1, 1), np.int64),
        events={},
        warp_instructions=int(of_kernel @ lengths(program.first_pc)),
    )


def resources_of(design: Design, outside: EntryArguments, cycles: int) -> dict[str, int]:
    """Quantities of the design over time by name, each summed over the cycles of the run and over all SMs."""
    by_sm = outside.integrals(cycles)
    return {name: sum(sm[i] for sm in by_sm) for i, name in enumerate(design.declaration.resources)}
