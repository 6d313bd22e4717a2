"""Resident warps of a kernel on an SM under a design, with its register demand or a number that a paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.counting.capacity import capacity_of
from warpreg.counting.fitting import misfit
from warpreg.designs.loading.chosen import Chosen
from warpreg.gpu import Machine
from warpreg.simt import Launch


@dataclass(frozen=True, slots=True)
class Residency:
    """``registers`` per thread and the theoretical occupancy under a design: resident ``warps`` of one SM, as a
    ``fraction`` of the maximum, bounded by ``limiter``.

    ``given``: the user set the registers; the kernel demands ``demanded``.  Of the register file, each warp takes
    ``held`` warp-registers, each group of ``group`` warps ``shared`` more, and at least ``pool`` are reserved for all
    warps of the SM (`warpreg.designs.interface.Residency`).  ``misfit`` says why no thread
    block fits and what would let one fit (`warpreg.counting.fitting`); empty if one fits.
    """

    kernel: str
    registers: int
    demanded: int
    given: bool
    blocks: int
    warps: int
    fraction: float
    limiter: str
    held: int
    shared: int
    group: int
    pool: int
    misfit: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        shared = {"registers_of_a_group": self.shared, "warps_of_a_group": self.group} if self.shared else {}
        pool = {"registers_of_the_pool": self.pool} if self.pool else {}
        return {
            "kernel": self.kernel,
            "registers_per_thread": self.registers,
            "registers": "given" if self.given else "compiled",
            "registers_demanded": self.demanded,
            "registers_of_a_warp": self.held,
            **shared,
            **pool,
            "resident_blocks": self.blocks,
            "resident_warps": self.warps,
            "occupancy": self.fraction,
            "limiter": self.limiter,
            **({"misfit": self.misfit} if self.misfit else {}),
        }


def residency(
    launch: Launch, machine: Machine, registers: int | None = None, chosen: Chosen | None = None
) -> Residency:
    """The residency of a launch's blocks, shared memory included; ``registers`` replaces the kernel's demand.

    ``chosen``: the design, by default the plain register file.  Raises DesignError for a design that the machine cannot
    have.
    """
    kernel = launch.kernel
    demanded = kernel.register_demand
    chosen = chosen or Chosen.of((), {})
    found = capacity_of(launch, machine, chosen, registers)
    return Residency(
        kernel=kernel.name,
        registers=demanded if registers is None else registers,
        demanded=demanded,
        given=registers is not None,
        blocks=found.blocks,
        warps=found.warps,
        fraction=found.occupancy,
        limiter=found.limiter,
        held=found.residency.registers,
        shared=found.residency.shared,
        group=found.residency.group,
        pool=found.residency.pool,
        misfit="" if found.blocks else misfit(launch, machine, chosen, registers, found.limiter),
    )


def theoretical(found: Sequence[Residency]) -> str:
    """Theoretical occupancy of the kernels of a run in words, with what limits it: ``83%, registers``."""
    if not found:
        return ""
    fractions = sorted(one.fraction for one in found)
    ends = dict.fromkeys(f"{fraction:.0%}" for fraction in (fractions[0], fractions[-1]))
    return f"{' to '.join(ends)}, {' or '.join(dict.fromkeys(one.limiter for one in found))}"
