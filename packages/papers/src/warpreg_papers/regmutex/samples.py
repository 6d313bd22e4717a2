"""A kernel of Table 4.1 in time: its first thread blocks on one SM, and how many warps fit there.

At least four waves are timed, each as many thread blocks as fit apart from registers, and at least 300,000
warp-instructions; all designs run the same thread blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpreg import gpu, timing
from warpreg.counting.capacity import capacity_of
from warpreg.designs import load
from warpreg.designs.interface.residency import Launch as Shape
from warpreg.designs.interface.residency import Residency, room
from warpreg.designs.loading.chosen import Chosen
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.gpu import Machine
from warpreg.simt import Launch
from warpreg_papers.regmutex.codes import PRINTED, Code, with_code
from warpreg_papers.regmutex.kernels import FULL_GROUP, GROUPS, TABLE, Entry
from warpreg_papers.regmutex.repeated import Repeated, enough

WAVES = 4
INSTRUCTIONS = 300_000
DIVIDED = ("regmutex", "regmutex-paired")
"""Designs with an extended set."""
HELD = "sections held"
"""The resource of RegMutex."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample on one SM.

    ``registers`` and ``spilled`` bytes of a thread; ``base`` registers that a warp owns, and at least ``pool`` that all
    of the SM share; ``warps`` that fit, a share ``occupancy`` of the slots, for ``limiter``; ``achieved`` in the mean.
    ``added``: of the warp-instructions, those that the design adds; ``held``: sections held, in the mean;
    ``bandwidth``: use of the busiest part of the memory system; ``conflicts``: reads that their bank did not grant at
    once.  ``blocks`` were timed.
    """

    cycles: int
    warp_instructions: int
    blocks: int
    registers: int
    spilled: int
    base: int
    pool: int
    free: int
    warps: int
    occupancy: float
    limiter: str
    achieved: float
    added: int
    held: float
    bandwidth: float
    conflicts: int
    events: Mapping[str, int]

    @property
    def sections(self) -> int:
        """Sections of the shared pool, of ``pool`` registers each."""
        return min(self.free // self.pool, self.warps) if self.pool else 0

    @property
    def at_once(self) -> float | None:
        """Acquires that succeeded at once, of all; None without acquires."""
        acquires = self.events.get("acquires", 0)
        return self.events["acquires at once"] / acquires if acquires else None


@dataclass(frozen=True, slots=True)
class Sampled:
    """The measure; without a variant, the plain register file.

    ``group``: the kernels that it measures, None for others.  ``code``: with the printed number of registers, or as
    compiled.  ``demand``: the registers that occupancy depends on, those of the code, or the printed ones, with which a
    design also takes the printed extended set (Table 4.1), unless its variant sets one.  Code that needs more than the
    printed number keeps its own.
    """

    machine: str
    variant: Variant | None = None
    group: str = FULL_GROUP
    code: Code = PRINTED
    demand: str = "code"

    def __call__(self, run: Run) -> Sample | None:
        if run.name not in GROUPS[self.group]:
            return None
        own, entry = with_code(run, self.code), TABLE[run.name]
        kernel = next(one for one in own.kernels if one.name == entry.kernel)
        machine, chosen = gpu.load(self.machine), self.chosen(entry)
        registers = max(entry.registers, kernel.register_demand) if self.demand == PRINTED else None
        launches = own.launches_of(kernel)
        needed = blocks_of(launches[0], machine)
        launch = enough(launches, needed)
        window = timing.Window(max(needed, _for_instructions(launches)))
        place = capacity_of(launch, machine, chosen, registers)
        found = timing.simulate([launch], machine, sms=1, window=window, registers=registers, designs=chosen)
        return Sample(
            cycles=found.cycles,
            warp_instructions=found.warp_instructions,
            blocks=min(window.count, math.prod(launch.grid)),
            registers=kernel.register_demand,
            spilled=kernel.local_bytes,
            base=place.residency.registers,
            pool=place.residency.pool,
            free=place.pool,
            warps=place.warps,
            occupancy=place.occupancy,
            limiter=place.limiter,
            achieved=found.occupancy,
            added=found.counts.added_warp_instructions,
            held=found.resources.get(HELD, 0) / max(1, found.cycles),
            bandwidth=max(found.bandwidth_use.values(), default=0.0),
            conflicts=found.bank_conflicts,
            events=found.counts.events,
        )

    def chosen(self, entry: Entry) -> Chosen:
        """The design with its parameters for a kernel of the table."""
        if self.variant is None:
            return Chosen.of((), {})
        design = load(self.variant.design)
        values: dict[str, Any] = dict(self.variant.values)
        if self.demand == PRINTED and self.variant.design in DIVIDED:
            values.setdefault("extended", entry.extended)
        return Chosen(design, design.configure(**values))


def blocks_of(launch: Launch | Repeated, machine: Machine) -> int:
    """The thread blocks of four waves, each as many as fit an SM if registers do not count."""
    shape = Shape(math.prod(launch.block), launch.shared_bytes)
    return WAVES * max(1, room(machine, Residency(0), shape, 0).blocks)


def _for_instructions(launches: tuple[Launch, ...]) -> int:
    """The thread blocks of the largest launch that execute `INSTRUCTIONS`."""
    largest = max(launches, key=lambda one: int(one.warp_instructions))
    return -(-INSTRUCTIONS * math.prod(largest.grid) // max(1, int(largest.warp_instructions)))
