"""Sampling of a run that is too long to be timed as a whole: some launches, some thread blocks of each.

On one SM, thread blocks fill it, however many the launch would give it on the whole machine.  The paper on the register
file cache simulates a subset of its threads on one SM too (ISCA 2011, section 4).  On all SMs, a launch with few thread
blocks leaves most of their warp slots empty, and little hides latencies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from warpreg import timing
from warpreg.designs.loading.chosen import Chosen
from warpreg.evaluation.runs.demand import demand_on
from warpreg.evaluation.runs.run import Run
from warpreg.gpu import Machine
from warpreg.simt import Launch
from warpreg.timing import TimingResult
from warpreg.timing.launch.simulate import room_of

Demand = Callable[[Launch, Machine], int | None]
LAUNCHES = 4
"""Number of launches of a kernel that are timed, evenly spaced, including the first."""
INSTRUCTIONS = 300_000
"""Sufficient number of warp-instructions of a launch."""
FILLINGS = 4
"""The timed thread blocks fill an SM at least once and at most this many times."""
INSTRUCTIONS_ON_ALL = 1_000_000
"""Sufficient number of warp-instructions of a launch on all SMs."""


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
    filling = machine.chip.sms * room_of(launch, machine, Chosen.of((), {}), registers).blocks
    return timing.Window(min(grid, max(needed, filling)))


def timed_on_all(run: Run, machine: Machine, *, demand: Demand = demand_on, **options: Any) -> Iterator[TimingResult]:
    """Each launch of the sample on all SMs; arguments as of `sampled`."""
    for launch in sample(run):
        registers = demand(launch, machine)
        window = window_on_all(launch, machine, registers)
        yield timing.simulate([launch], machine, window=window, registers=registers, **options)


def sampled(run: Run, machine: Machine, *, demand: Demand = demand_on, **options: Any) -> TimingResult:
    """The sample on one SM; ``demand``: registers per thread; ``options`` as in `warpreg.timing.launch.simulate`."""
    return timing.joined(
        [
            timing.simulate(
                [launch],
                machine,
                sms=1,
                window=window(launch, machine),
                registers=demand(launch, machine),
                **options,
            )
            for launch in sample(run)
        ]
    )
