"""Cycles and counts of a sample of a run on a machine, with or without a design, and ages of registers read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.loading.composition import joined
from warpreg.evaluation.runs import reuse_ages
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import sampled
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.replay import Counts

WATCHER = Path(reuse_ages.__file__)


@dataclass(frozen=True, slots=True, eq=False)
class TimedSample:
    """The timing of a sample; ``ages`` int64[levels, classes] are reads by `reuse_ages`, None if not recorded."""

    cycles: int
    warp_instructions: int
    counts: Counts
    ages: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Timed:
    """The measure; without a variant, the main register file alone.  ``ages``: also record the ages of reads."""

    machine: str
    variant: Variant | None = None
    ages: bool = False

    def __call__(self, run: Run) -> TimedSample:
        machine = gpu.load(self.machine)
        if self.variant is None:
            found = sampled(run, machine)
            return TimedSample(found.cycles, found.warp_instructions, found.counts)
        watched = [load(self.variant.design), *([load(WATCHER)] if self.ages else [])]
        values: dict[str, Any] = dict(self.variant.values)
        if self.ages:
            values = {joined(watched[0], name): value for name, value in self.variant.values}
        found = sampled(run, machine, designs=watched, **values)
        ages = ages_of(found.counts) if self.ages else None
        return TimedSample(found.cycles, found.warp_instructions, found.counts, ages)


def ages_of(counts: Counts) -> NDArray[np.int64]:
    """Reads by level and age class."""
    events = [number for name, number in counts.events.items() if name.startswith("age_")]
    return np.array(events, np.int64).reshape(reuse_ages.LEVELS, reuse_ages.CLASSES)
