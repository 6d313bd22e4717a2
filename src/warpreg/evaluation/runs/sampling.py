"""Sampling of a run that is too long to be timed as a whole: some launches, some thread blocks of each.

On one SM, thread blocks fill it, however many the launch would give it on the whole machine.  The paper on the register
file cache simulates a subset of its threads on one SM too (ISCA 2011, section 4).  On all SMs, a launch with few thread
blocks leaves most of their warp slots empty, and little hides latencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from warpreg import timing
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.demand import demand_on, fitting_demand
from warpreg.evaluation.runs.run import Run
from warpreg.gpu import Machine
from warpreg.simt import Launch
from warpreg.timing import TimingResult
from warpreg.timing.launch.simulate import room_of

LAUNCHES = 4
"""Number of launches of a kernel that are timed, evenly spaced, including the first."""
INSTRUCTIONS = 300_000
"""Sufficient number of warp-instructions of a launch."""
FILLINGS = 4
"""The timed thread blocks fill an SM at least once and at most this many times."""
INSTRUCTIONS_ON_ALL = 1_000_000
"""Sufficient number of warp-instructions of a launch on all SMs."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What is timed of a launch: the first thread blocks on some SMs."""

    launch: Any
    """A `warpreg.simt.Launch`, or what stands for several."""
    window: timing.Window
    """The thread blocks."""
    sms: int | None = None
    """How many SMs; None for all."""
    registers: int | None = None
    """Registers per thread by which occupancy is computed; None for those of the kernel."""


class Sampling(Protocol):
    """A way to sample: a frozen dataclass, because it is part of the key of a finding."""

    def pieces(self, run: Run, machine: Machine) -> Iterable[Piece]:
        """What is timed of a run; the same for all designs."""


@dataclass(frozen=True, slots=True)
class OneSm:
    """Thread blocks that fill one SM, of each launch of the sample."""

    fitting: bool = False
    """A thread has as many registers as let a thread block fit, not only as many as the machine gives a thread."""

    def pieces(self, run: Run, machine: Machine) -> Iterator[Piece]:
        demand = fitting_demand if self.fitting else demand_on
        for launch in sample(run):
            yield Piece(launch, window(launch, machine), 1, demand(launch, machine))


ONE_SM = OneSm()


@dataclass(frozen=True, slots=True)
class AllSms:
    """Thread blocks on all SMs, of each launch of the sample."""

    def pieces(self, run: Run, machine: Machine) -> Iterator[Piece]:
        for launch in sample(run):
            registers = demand_on(launch, machine)
            yield Piece(launch, window_on_all(launch, machine, registers), None, registers)


def timed(pieces: Iterable[Piece], machine: Machine, **options: Any) -> list[TimingResult]:
    """The timing of each piece; ``options`` as in `warpreg.timing.launch.simulate`."""
    return [
        timing.simulate(
            [one.launch], machine, sms=one.sms, window=one.window, registers=one.registers, **options
        )
        for one in pieces
    ]  # fmt: skip


def sampled(run: Run, machine: Machine, **options: Any) -> TimingResult:
    """The sample on one SM."""
    return timing.joined(timed(ONE_SM.pieces(run, machine), machine, **options))


def sample(run: Run) -> list[Launch]:
    """The sampled launches of all kernels."""
    taken: list[Launch] = []
    for launches in map(run.launches_of, run.kernels):
        count = min(LAUNCHES, len(launches))
        taken += [launches[i * len(launches) // count] for i in range(count)]
    return taken


def window(launch: Launch, machine: Machine) -> timing.Window:
    """The first thread blocks, as many as are needed for `INSTRUCTIONS`."""
    x, y, z = launch.block
    warps = -(-x * y * z // machine.sm.threads_per_warp)
    filling = max(1, min(machine.sm.blocks, machine.sm.warps // warps))
    grid = launch.grid[0] * launch.grid[1] * launch.grid[2]
    needed = INSTRUCTIONS * grid // max(1, int(launch.warp_instructions))
    return timing.Window(min(FILLINGS * filling, max(filling, needed)))


def window_on_all(launch: Launch, machine: Machine, registers: int | None = None) -> timing.Window:
    """The first thread blocks, as many as are needed for `INSTRUCTIONS_ON_ALL`, but at least as many as the SMs hold at
    a time; all of a launch that has fewer.  ``registers`` of a thread, if not those of the kernel.
    """
    grid = math.prod(launch.grid)
    needed = -(-INSTRUCTIONS_ON_ALL * grid // max(1, int(launch.warp_instructions)))
    filling = machine.chip.sms * room_of(launch, machine, ConfiguredDesign.of((), {}), registers).blocks
    return timing.Window(min(grid, max(needed, filling)))
