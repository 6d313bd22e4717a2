"""Cycles, counts, resources and times of instructions of a sample of a run under a design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg import gpu, timing
from warpreg.designs import load
from warpreg.designs.loading.chosen import Chosen
from warpreg.designs.loading.composition import joined
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import timed_on_all
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.replay import Counts
from warpreg_papers.bow import instruction_times

TIMES = Path(instruction_times.__file__)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The sample on all SMs.

    ``plain`` are the counts of the main register file alone on the same path; ``resources`` are sums over cycles;
    ``sm_cycles`` are the cycles of all SMs that a launch gave a thread block; ``warp_cycles`` those of all warp slots
    that hold a warp; ``until_dispatch`` those of all instructions in the operand collection stage, from their issue to
    their dispatch.
    """

    cycles: int
    warp_instructions: int
    counts: Counts
    plain: Counts
    resources: Mapping[str, int]
    sm_cycles: int
    warp_cycles: float
    until_dispatch: int = 0

    @property
    def ipc(self) -> float:
        """Warp-instructions per cycle."""
        return self.warp_instructions / max(1, self.cycles)

    @property
    def collecting(self) -> int:
        """Cycles that instructions took from their issue until their last source was read, summed over all."""
        return sum(cycles for name, cycles in self.resources.items() if name.startswith("collecting"))

    @property
    def use(self) -> Use:
        """What the sample used, for prices: of an SM without thread block, nothing."""
        return Use(self.counts.events, self.sm_cycles, 1, self.resources)


@dataclass(frozen=True, slots=True)
class Sampled:
    """The measure; without a variant, the main register file alone.  With ``times``, those of instructions are kept."""

    machine: str
    variant: Variant | None = None
    times: bool = False

    def __call__(self, run: Run) -> Sample:
        launches = list(timed_on_all(run, gpu.load(self.machine), designs=self.chosen()))
        found = timing.joined(launches)
        return Sample(
            cycles=found.cycles,
            warp_instructions=found.warp_instructions,
            counts=found.counts,
            plain=found.plain,
            resources=found.resources,
            sm_cycles=sum(one.cycles * int((one.issued > 0).sum()) for one in launches),
            warp_cycles=found.occupancy * float(found.stalls.sum()),
            until_dispatch=found.latch_cycles + found.collect_cycles + found.collect_cycles_memory,
        )

    def chosen(self) -> Chosen:
        """The design with its parameters."""
        designs = [] if self.variant is None else [load(self.variant.design)]
        values: dict[str, Any] = {} if self.variant is None else dict(self.variant.values)
        if self.times:
            values = {joined(design, name): value for design in designs for name, value in values.items()}
            designs.append(load(TIMES))
        return Chosen.of(designs, values)
