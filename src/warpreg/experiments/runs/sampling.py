"""Sampling of a run that is too long to be timed as a whole: some launches, some thread blocks of each.

The paper on the register file cache simulates a subset of its threads on one SM too (ISCA 2011, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg import timing
from warpreg.experiments.runs.demand import demand_on
from warpreg.experiments.runs.run import Run
from warpreg.gpu import Machine
from warpreg.simt import Launch
from warpreg.timing import TimingResult

Demand = Callable[[Launch, Machine], int | None]
LAUNCHES = 4
"""Number of launches of a kernel that are timed, evenly spaced, including the first."""
INSTRUCTIONS = 300_000
"""Sufficient number of warp-instructions of a launch."""
FILLINGS = 4
"""The timed thread blocks fill an SM at least once and at most this many times."""


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
