"""Cycles, loads and registers of every launch of a run: layers of networks, and whole networks by their sums.

Launches of at most `WHOLE` warp-instructions are timed on all SMs.  Of larger ones, the first thread blocks with about
`WHOLE` warp-instructions in all, but at least two fillings, are timed on `SMS` SMs with their share of memory, and
scaled by warp-instructions.  All designs have the same sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpreg import gpu, timing
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs import load
from warpreg.designs.loading.chosen import Chosen
from warpreg.experiments.runs.demand import fitting_demand
from warpreg.experiments.runs.run import Run
from warpreg.experiments.runs.scheduled import Variant
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.simt import Launch
from warpreg.timing.launch.simulate import room_of

WHOLE = 300_000
SMS = 2
FILLINGS = 2


@dataclass(frozen=True, slots=True)
class Layer:
    """A launch: ``cycles``, ``loads`` of memory and ``shared`` ones of the whole launch, estimated if it is a sample.

    ``registers`` of a thread, and the most that are ``live``; what limits the resident thread blocks.  Means over time
    and SMs, in warp-registers: ``in_use`` physical ones, ``allocated`` ones.
    """

    kernel: str
    cycles: float
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
    ``percent`` of its registers.
    """

    machine: str
    variant: Variant | None = None
    percent: int = 100

    def __call__(self, run: Run) -> tuple[Layer, ...]:
        machine, chosen = gpu.load(self.machine), self.chosen()
        return tuple(_layer(launch, machine, chosen, self.percent) for launch in run.launches)

    def chosen(self) -> Chosen:
        """The design with its parameters."""
        if self.variant is None:
            return Chosen.of([], {})
        design = load(self.variant.design)
        return Chosen(design, design.configure(**dict(self.variant.values)))


def _layer(launch: Launch, machine: Machine, chosen: Chosen, percent: int) -> Layer:
    demand = fitting_demand(launch, machine)
    demand = launch.kernel.register_demand if demand is None else demand
    placed = max(1, demand * percent // 100)
    place = room_of(launch, machine, chosen, placed)
    options: dict[str, Any] = {"registers": placed, **_sample(launch, machine, place.blocks)}
    found = timing.simulate([launch], machine, designs=chosen, **options)
    sms = options.get("sms", machine.chip.sms)
    part = found.warp_instructions / max(1, int(launch.warp_instructions))
    scale = 1.0 if "window" not in options else sms / machine.chip.sms / part
    events, over = found.counts.events, max(1, found.cycles * sms)
    resident = found.occupancy * machine.sm.warps
    shared = events.get("perfect", 0) + events.get("partial", 0)
    return Layer(
        kernel=launch.kernel.name,
        cycles=found.cycles * scale,
        loads=round(found.memory_loads / part),
        shared=round(shared / part),
        registers=demand,
        live=most_live(launch.kernel),
        limiter=place.limiter,
        in_use=found.resources.get("physical registers", 0) / over,
        allocated=resident * demand,
    )


def most_live(kernel: Kernel) -> int:
    """The largest number of registers of a thread that are live at a time."""
    return int(Analysis(kernel).live_before.sum(axis=1).max(initial=0))


def _sample(launch: Launch, machine: Machine, resident: int) -> Mapping[str, Any]:
    """All of a small launch on all SMs, a window of a large one on some."""
    total, grid = int(launch.warp_instructions), launch.grid[0] * launch.grid[1] * launch.grid[2]
    window = max(FILLINGS * SMS * resident, WHOLE * grid // max(1, total))
    if total <= WHOLE or window >= grid or grid < machine.chip.sms:
        return {}
    return {"sms": SMS, "window": timing.Window(window)}
