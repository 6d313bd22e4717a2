"""Cycles, loads and registers of every launch of a run: layers of networks, and whole networks by their sums.

All thread blocks of all launches are timed on all SMs.  A sample would not do: many layers do not fill the machine, and
which loads share depends on which thread blocks an SM has at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg import gpu, timing
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.demand import fitting_demand
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.simt import Launch
from warpreg.timing.launch.simulate import room_of


@dataclass(frozen=True, slots=True)
class Layer:
    """A launch: ``cycles``, ``loads`` of memory and ``shared`` ones.

    ``registers`` of a thread, and the most that are ``live``; what limits the resident thread blocks.  Means over time
    and SMs, in warp-registers: ``in_use`` physical ones, ``allocated`` ones.
    """

    kernel: str
    cycles: int
    loads: int
    shared: int
    registers: int
    live: int
    limiter: str
    in_use: float = 0.0
    allocated: float = 0.0

    @property
    def removed(self) -> float:
        """Share of global loads that do not go to memory."""
        return self.shared / max(1, self.loads + self.shared)


@dataclass(frozen=True, slots=True)
class Layers:
    """The measure; without a variant, the main register file alone.  Thread blocks are placed as if the kernel had
    ``percent`` of its registers.  With ``first``, only the first launch of this kernel is timed.
    """

    machine: str
    variant: Variant | None = None
    percent: int = 100
    first: str | None = None

    def __call__(self, run: Run) -> tuple[Layer, ...]:
        machine, chosen = gpu.load(self.machine), self.chosen()
        return tuple(_layer(launch, machine, chosen, self.percent) for launch in self._timed(run.launches))

    def _timed(self, launches: Sequence[Launch]) -> Sequence[Launch]:
        """All launches, or the first of a kernel."""
        return launches if self.first is None else [one for one in launches if one.kernel.name == self.first][:1]

    def chosen(self) -> ConfiguredDesign:
        """The design with its parameters."""
        return ConfiguredDesign.of((), {}) if self.variant is None else self.variant.chosen()


def _layer(launch: Launch, machine: Machine, chosen: ConfiguredDesign, percent: int) -> Layer:
    demand = fitting_demand(launch, machine)
    demand = launch.kernel.register_demand if demand is None else demand
    placed = max(1, demand * percent // 100)
    place = room_of(launch, machine, chosen, placed)
    result = timing.simulate([launch], machine, designs=chosen, registers=placed)
    events, over = result.counts.events, max(1, result.cycles * machine.chip.sms)
    resident = result.occupancy * machine.sm.warps
    return Layer(
        kernel=launch.kernel.name,
        cycles=result.cycles,
        loads=result.memory_loads,
        shared=events.get("perfect", 0) + events.get("partial", 0),
        registers=demand,
        live=most_live(launch.kernel),
        limiter=place.limiter,
        in_use=result.resources.get("physical registers", 0) / over,
        allocated=resident * demand,
    )


def most_live(kernel: Kernel) -> int:
    """The largest number of registers of a thread that are live at a time."""
    return int(Analysis(kernel).live_before.sum(axis=1).max(initial=0))
