"""Paths between levels: registers that are transferred along one share its bandwidth and take its latency.

A design file returns them from ``paths(parameters, machine)``.  A hook starts a transfer with `transfer`, and the hook
``transferred`` is called when it is complete.  Source: the bandwidth and latency of a crossbar between a main register
file and a register cache decide what prefetching costs (LTRF, ASPLOS 2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.plan import PATH_COLUMNS, UNSET, Plan
from warpreg.designs.interface.plan_functions import queue_extra

OWNERS: tuple[str, ...] = ("SM", "scheduler")
MAX_PATHS = 8
"""Paths that one design has at most."""
MEMORY = MAX_PATHS
"""The path that ``transferred`` is told of for a register fetched from memory (`own_memory`)."""
PATH_NUMBERS = MAX_PATHS + 1
"""Numbers of paths of one design in a composition."""
MAX_BANDWIDTH, MAX_LATENCY = 1 << 10, 1 << 20
TRANSFER = 2
"""In a queued extra access, the action TRANSFER + k is a transfer along path k; READ and WRITE are below."""

SOURCE, TARGET, READS_MAIN, WRITES_MAIN, LANES, INTERVAL, LATENCY, FIRST, OWNED_BY = range(9)
"""Columns of `path_rows`: levels at both ends; whether they are the main register file; registers that set out at a
time, and the cycles until more can; the latency; the first of its counters among those of an SM, and how many there
are.  A row with LANES 0 is no path.
"""


@dataclass(frozen=True, slots=True)
class Path:
    """A connection between two levels of the design, by name.

    ``per_cycle`` warp-registers set out on it in a cycle: a whole number, or one over a whole number of cycles for each
    register.  They arrive ``latency`` cycles later, 1 at least.  ``per``: each SM has one, or each scheduler, which
    serves the warps of that scheduler.  Raises DesignError for anything else.
    """

    source: str
    target: str
    per_cycle: float = 1
    latency: int = 1
    per: str = "SM"

    def __post_init__(self) -> None:
        named = f"path from {self.source} to {self.target}"
        if self.source == self.target:
            raise DesignError(f"{named}: expects two levels")
        whole = self.per_cycle if self.per_cycle >= 1 else 1 / self.per_cycle if self.per_cycle > 0 else 0.0
        if not 1 <= whole <= MAX_BANDWIDTH or abs(whole - round(whole)) > 1e-6:
            raise DesignError(
                f"{named}: per_cycle expects 1 to {MAX_BANDWIDTH} or one over such a number, found {self.per_cycle:g}"
            )
        if not 1 <= self.latency <= MAX_LATENCY or self.latency != int(self.latency):
            raise DesignError(f"{named}: latency expects 1 to {MAX_LATENCY} cycles, found {self.latency}")
        if self.per not in OWNERS:
            raise DesignError(f"{named}: per expects one of {', '.join(OWNERS)}, found {self.per!r}")

    @property
    def lanes(self) -> int:
        """Registers that set out at a time."""
        return max(1, round(self.per_cycle))

    @property
    def interval(self) -> int:
        """Cycles until more can."""
        return max(1, round(1 / self.per_cycle))


def path_rows(
    paths: Mapping[int, Path], levels: Sequence[str], main: Sequence[str], schedulers: int = 1
) -> NDArray[np.int64]:
    """int64[paths, PATH_COLUMNS] of the paths of a design by their number."""
    rows = np.zeros((max(paths, default=-1) + 1, PATH_COLUMNS), np.int64)
    first = 0
    for number, path in paths.items():
        count = schedulers if path.per == "scheduler" else 1
        ends = levels.index(path.source), levels.index(path.target), path.source in main, path.target in main
        rows[number] = (*ends, path.lanes, path.interval, path.latency, first, count)
        first += count
    return rows


def counters_of(rows: NDArray[np.int64]) -> int:
    """Counters that the paths of an SM need."""
    return int(rows[:, OWNED_BY].sum())


def transfer(plan: Plan, path: int, register: int, warp: int = UNSET, bank: int = UNSET) -> None:
    """Transfer a register of ``warp`` (by default the warp of the call) along one of the design's paths, by number.

    Counts like `move`: one read of the level that the path begins at and one write of the one that it ends at.  At an
    end that is the main register file, it waits for the ``bank`` of the register (default: the machine's).  The hook
    ``transferred`` is called when it is complete, in a replay directly after the hook that started it.
    """
    number = plan.first_path + path
    plan.moves[plan.paths[number, SOURCE], plan.paths[number, TARGET]] += 1
    if plan.detailed or plan.extras.shape[0] > 0:
        queue_extra(plan, TRANSFER + number, register, warp, bank)
