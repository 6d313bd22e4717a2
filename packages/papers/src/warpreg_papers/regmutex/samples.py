"""A kernel of Table 4.1 in time: its first thread blocks on one SM, and how many warps fit there.

At least four waves are timed, each as many thread blocks as fit apart from registers, and at least 300,000
warp-instructions; all designs run the same thread blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpreg import gpu, timing
from warpreg.counting.capacity import capacity_of
from warpreg.designs.interface.residency import Launch as Shape
from warpreg.designs.interface.residency import Residency, room
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import Piece, timed
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.gpu import Machine
from warpreg.simt import Launch
from warpreg_papers.regmutex.codes import PRINTED, Code, with_code
from warpreg_papers.regmutex.kernels import FULL_GROUP, GROUPS, TABLE, Entry
from warpreg_papers.regmutex.repeated import RepeatedLaunch, enough

WAVES = 4
INSTRUCTIONS = 300_000
DIVIDED = ("regmutex", "regmutex-paired")
"""Designs with an extended set."""
HELD = "sections held"
"""The resource of RegMutex."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placed(Sample):
    """The sample on one SM, and what fits there."""

    registers: int
    """Of a thread."""
    spilled: int
    """Bytes of a thread."""
    base: int
    """Registers that a warp owns."""
    pool: int
    """The least number of registers that the SM shares, the size of a section."""
    free: int
    """Registers of the SM that no warp owns."""
    warps: int
    """Warps that fit."""
    occupancy: float
    """These, of the warp slots."""

    @property
    def sections(self) -> int:
        """Sections of the shared pool, of ``pool`` registers each."""
        return min(self.free // self.pool, self.warps) if self.pool else 0

    @property
    def held(self) -> float:
        """Sections held, in the mean."""
        return self.resources.get(HELD, 0) / max(1, self.cycles)

    @property
    def at_once(self) -> float | None:
        """Acquires that succeeded at once, of all; None without acquires."""
        acquires = self.counts.events.get("acquires", 0)
        return self.counts.events["acquires at once"] / acquires if acquires else None


@dataclass(frozen=True, slots=True)
class InTable:
    """The measure of a kernel of Table 4.1."""

    machine: str
    variant: Variant | None = None
    """The design; None for the plain register file."""
    group: str = FULL_GROUP
    """The kernels that it measures; None is found for others."""
    code: Code = PRINTED
    """With the printed number of registers, or as compiled."""
    demand: str = "code"
    """The registers that occupancy depends on: those of the code, or the printed ones, with which a design also takes
    the printed extended set (Table 4.1), unless its variant sets one.  Code that needs more keeps its own number.
    """

    def __call__(self, run: Run) -> Placed | None:
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
        return Placed.of(
            timed([Piece(launch, window, 1, registers)], machine, designs=chosen),
            registers=kernel.register_demand,
            spilled=kernel.local_bytes,
            base=place.residency.registers,
            pool=place.residency.pool,
            free=place.pool,
            warps=place.warps,
            occupancy=place.occupancy,
        )

    def chosen(self, entry: Entry) -> ConfiguredDesign:
        """The design with its parameters for a kernel of the table."""
        if self.variant is None:
            return ConfiguredDesign.of((), {})
        is_printed = self.demand == PRINTED and self.variant.design in DIVIDED
        return self.variant.chosen(**({"extended": entry.extended} if is_printed else {}))


def blocks_of(launch: Launch | RepeatedLaunch, machine: Machine) -> int:
    """The thread blocks of four waves, each as many as fit an SM if registers do not count."""
    shape = Shape(math.prod(launch.block), launch.shared_bytes)
    return WAVES * max(1, room(machine, Residency(0), shape, 0).blocks)


def _for_instructions(launches: tuple[Launch, ...]) -> int:
    """The thread blocks of the largest launch that execute `INSTRUCTIONS`."""
    largest = max(launches, key=lambda one: int(one.warp_instructions))
    return -(-INSTRUCTIONS * math.prod(largest.grid) // max(1, int(largest.warp_instructions)))
