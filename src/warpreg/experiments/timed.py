"""Cycles and counts of a sample of a run on a machine, with a design or without, and ages of what is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.composition import joined
from warpreg.experiments import reuse_ages
from warpreg.experiments.runs import Run
from warpreg.experiments.sampling import sampled
from warpreg.experiments.scheduled import Variant
from warpreg.replay import Counts

WATCHER = Path(reuse_ages.__file__)


@dataclass(frozen=True, slots=True, eq=False)
class TimedSample:
    """What a sample took; ``ages`` int64[levels, classes] are reads by `warpreg.experiments.reuse_ages`, if asked."""

    cycles: int
    warp_instructions: int
    counts: Counts
    ages: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Timed:
    """The measure; without a variant the main register file alone."""

    machine: str
    variant: Variant | None = None
    ages: bool = False

    def __call__(self, run: Run) -> TimedSample:
        machine = gpu.load(self.machine)
        found = sampled(run, machine, designs=self._designs(), **self._values())
        return TimedSample(found.cycles, found.warp_instructions, found.counts, self._ages(found.counts))

    def _designs(self) -> list[Any]:
        designs: list[Any] = [load(self.variant.design)] if self.variant else []
        return [*designs, load(WATCHER)] if self.ages else designs

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = dict(self.variant.values) if self.variant else {}
        if self.variant and self.ages:
            return {joined(load(self.variant.design), name): value for name, value in values.items()}
        return values

    def _ages(self, counts: Counts) -> NDArray[np.int64] | None:
        if not self.ages:
            return None
        events = [counts.events[name] for name in counts.events if "age_" in name]
        return np.array(events, np.int64).reshape(reuse_ages.LEVELS, reuse_ages.CLASSES)
