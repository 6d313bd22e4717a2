"""Cycles, counts and resources of a sample of a run under a design, the input of energy, leakage and speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.loading.chosen import Chosen
from warpreg.evaluation.runs.demand import fitting_demand
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import sampled
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.replay import Counts


@dataclass(frozen=True, slots=True, eq=False)
class DesignSample:
    """The sample on one SM; ``resources`` of the design are sums over its cycles; ``bank_conflicts``: banks with a
    read that was not granted, summed over cycles.
    """

    cycles: int
    warp_instructions: int
    counts: Counts
    resources: Mapping[str, int]
    bank_conflicts: int = 0

    @property
    def use(self) -> Use:
        """What the sample used, for prices."""
        return Use(self.counts.events, self.cycles, 1, self.resources)

    @property
    def ipc_of_kernel(self) -> float:
        """Warp-instructions per cycle, without those that the design has added to the kernel."""
        return (self.warp_instructions - self.counts.added_warp_instructions) / max(1, self.cycles)


@dataclass(frozen=True, slots=True)
class TimedDesign:
    """The measure; without a variant, the main register file alone.  The sample is that of `sampling`, with as many
    registers per thread as let a thread block fit.
    """

    machine: str
    variant: Variant | None = None

    @property
    def needs_widths(self) -> bool:
        """Whether the run must record the widths of values."""
        return self.variant is not None and load(self.variant.design).declaration.widths

    def __call__(self, run: Run) -> DesignSample:
        options: dict[str, Any] = {}
        if self.variant is not None:
            design = load(self.variant.design)
            options["designs"] = Chosen(design, design.configure(**dict(self.variant.values)))
        found = sampled(run, gpu.load(self.machine), demand=fitting_demand, **options)
        return DesignSample(found.cycles, found.warp_instructions, found.counts, found.resources, found.bank_conflicts)
