"""An ORF with a size per strand: the oracle of the limit study (Gebhart et al., MICRO 2011, section 7).

The active warps share the usual number of entries.  A strand that starts receives the number that saves most energy
among all running strands.  The paper's oracle knows the coming strands.  This one knows the number of executions of
each strand and, with issued instructions as time, how long it holds its entries.  It may give each strand any size as
long as the mean over time equals the size of the ORF, so no realistic scheduler is better.  Accesses have the energy of
the ORF of fixed size, because the structure is as large; the register file serves accesses that the ORF does not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import load, program_table
from warpreg.designs.parts.placement.encode import encode
from warpreg.designs.parts.placement.hierarchy import place
from warpreg.designs.parts.placement.operand_energy import operand_energy
from warpreg.evaluation.runs.run import Run
from warpreg.ir.kernel import Kernel

LARGEST = 8
"""Maximum number of entries of a strand (section 7)."""


@dataclass(frozen=True, slots=True)
class VariableEnergy:
    """pJ of a run with the fixed size for every strand, and with a size per strand; ``entries`` is the mean size
    assigned.
    """

    fixed_pj: float
    variable_pj: float
    entries: float

    @property
    def saving(self) -> float:
        """Share of the energy with the fixed size."""
        return 1 - self.variable_pj / self.fixed_pj if self.fixed_pj else 0.0


@dataclass(frozen=True, slots=True)
class VariableOrf:
    """The oracle as a measure of a run.

    ``entries`` per warp at equal sizes; the ``active_warps`` share the entries of ``paper_warps`` at that size.
    """

    entries: int = 3
    active_warps: int = 8
    paper_warps: int = 8

    def __call__(self, run: Run) -> VariableEnergy:
        choices = [choice for kernel in run.kernels for choice in self._strands(run, kernel)]
        fixed = sum(choice.pj[self.entries] for choice in choices)
        time = sum(choice.time for choice in choices)
        budget = self.entries * self.paper_warps / self.active_warps
        variable, used = best_sizes(choices, budget * time)
        return VariableEnergy(fixed, variable, used / time if time else 0.0)

    def _strands(self, run: Run, kernel: Kernel) -> Iterator[StrandChoice]:
        design = load("orf-lrf")
        program = program_table(kernel)
        visits = sum(launch.block_visits.astype(np.float64) for launch in run.launches_of(kernel))
        executed = np.repeat(np.asarray(visits), np.diff(program.first_pc))
        sizes = [design.configure(entries=size, priced_entries=self.entries) for size in range(LARGEST + 1)]
        options = [design.module.options(parameters) for parameters in sizes]
        placements = [place(kernel, program, chosen) for chosen in options]
        by_size = np.array(
            [
                operand_energy(encode(program, kernel, placement), chosen.costs) * executed
                for placement, chosen in zip(placements, options, strict=True)
            ]
        )
        for strand in placements[0].strands.strands:
            pcs = list(strand.pcs)
            if executed[pcs].any():
                yield StrandChoice(float(executed[pcs].sum()), by_size[:, pcs].sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class StrandChoice:
    """A strand: instructions that it issued in the run, and pJ by number of entries, from 0 on."""

    time: float
    pj: NDArray[np.float64]


def best_sizes(strands: Sequence[StrandChoice], room: float) -> tuple[float, float]:
    """Minimum energy with sizes that use up to ``room`` (entries times instructions); also returns the room used.

    Sizes on the lower convex hull of each strand's energies are assigned in order of savings per room; the last one may
    be assigned for part of the time.
    """
    energy = sum(float(strand.pj[0]) for strand in strands)
    queue = [step for number, strand in enumerate(strands) for step in _steps(number, strand)]
    heapq.heapify(queue)
    left = room
    while queue and left > 0:
        rate, _, _, cost = heapq.heappop(queue)
        part = min(1.0, left / cost)
        energy += rate * cost * part
        left -= cost * part
    return energy, room - left


def _steps(number: int, strand: StrandChoice) -> Iterator[tuple[float, int, int, float]]:
    """Increases of a strand's size along its hull: pJ (negative) per unit of room, strand, size, room."""
    size = 0
    while size + 1 < len(strand.pj):
        rates = [(strand.pj[to] - strand.pj[size]) / (to - size) for to in range(size + 1, len(strand.pj))]
        best = int(np.argmin(rates))
        if rates[best] >= 0:
            return
        grown = size + 1 + best
        room = strand.time * (grown - size)
        yield float(strand.pj[grown] - strand.pj[size]) / room, number, grown, room
        size = grown
