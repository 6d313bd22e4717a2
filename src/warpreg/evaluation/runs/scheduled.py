"""Counts of designs along the schedule of a timing run, for designs that warps share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from warpreg import gpu, timing
from warpreg.designs import load
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import Run
from warpreg.gpu import Machine
from warpreg.replay import Counts, together
from warpreg.replay.replay import replay_launches
from warpreg.simt import Launch


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with values of some parameters."""

    design: str
    values: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(design: str, **values: Value) -> Variant:
        return Variant(design, tuple(sorted(values.items())))

    def chosen(self, **defaults: Value) -> ConfiguredDesign:
        """The loaded design with all its parameters; ``defaults`` are values of those that the variant does not set."""
        design, values = load(self.design), {**defaults, **dict(self.values)}
        return ConfiguredDesign(design, design.configure(**values))


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The measure: launches are timed once on the machine, then every variant is replayed along their schedules.

    ``warps``: the number of warp slots of an SM, or as many as a thread block needs if that is more.
    """

    machine: str
    variants: tuple[Variant, ...]
    warps: int | None = None

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """Those of its designs, which say what the run must record of values."""
        return tuple(load(variant.design).declaration for variant in self.variants)

    def __call__(self, run: Run) -> Mapping[Variant, Counts]:
        by_variant: dict[Variant, list[Counts]] = {variant: [] for variant in self.variants}
        for kernel in run.kernels:
            launches = run.launches_of(kernel)
            machine = self.machine_for(launches)
            scheduled = [
                (launch.trace, timing.recorded_schedule(launch, machine)[1])
                for launch in launches
                if launch.trace is not None
            ]
            for variant in self.variants:
                values: dict[str, Any] = dict(variant.values)
                by_variant[variant].append(replay_launches(scheduled, kernel, variant.design, **values))
            for _, schedule in scheduled:
                schedule.close()
        return {variant: reduce(together, counts) for variant, counts in by_variant.items()}

    def machine_for(self, launches: Sequence[Launch]) -> Machine:
        """The machine that runs the launches of a kernel."""
        machine = gpu.load(self.machine)
        if self.warps is None:
            return machine
        needed = max(-(-math.prod(launch.block) // machine.sm.threads_per_warp) for launch in launches)
        warps = min(machine.sm.warps, max(self.warps, needed))
        sm = dataclasses.replace(machine.sm, warps=warps, threads=warps * machine.sm.threads_per_warp)
        return dataclasses.replace(machine, sm=sm)
