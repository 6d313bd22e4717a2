"""Counts of designs along the schedule of a timing run: what depends on which warps share a structure, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from warpreg import timing
from warpreg.experiments.result import Value
from warpreg.experiments.runs import Run
from warpreg.replay import Counts, together
from warpreg.replay.replay import replay_launches


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with some of its parameters."""

    design: str
    values: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(design: str, **values: Value) -> Variant:
        return Variant(design, tuple(sorted(values.items())))


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The measure: launches are timed once on the machine, then every variant is replayed along their schedules."""

    machine: str
    variants: tuple[Variant, ...]

    def __call__(self, run: Run) -> Mapping[Variant, Counts]:
        found: dict[Variant, list[Counts]] = {variant: [] for variant in self.variants}
        for kernel in run.kernels:
            launches = run.launches_of(kernel)
            scheduled = [
                (launch.trace, timing.recorded_schedule(launch, self.machine)[1])
                for launch in launches
                if launch.trace is not None
            ]
            for variant in self.variants:
                values: dict[str, Any] = dict(variant.values)
                found[variant].append(replay_launches(scheduled, kernel, variant.design, **values))
            for _, schedule in scheduled:
                schedule.close()
        return {variant: reduce(together, counts) for variant, counts in found.items()}
