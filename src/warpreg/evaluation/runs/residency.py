"""Resident warps of a kernel on an SM under a design, with its register demand or a number that a paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.counting.capacity import capacity_of
from warpreg.counting.fitting import misfit
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu import Machine
from warpreg.simt import Launch


@dataclass(frozen=True, slots=True)
class Residency:
    """Registers per thread and the theoretical occupancy of a kernel under a design."""

    kernel: str
    registers: int
    """Per thread."""
    demanded: int
    """What the kernel demands."""
    given: bool
    """The user set the registers."""
    blocks: int
    """Resident thread blocks of one SM."""
    warps: int
    """Resident warps of one SM."""
    fraction: float
    """These, of the maximum."""
    limiter: str
    """What bounds them."""
    held: int
    """Warp-registers that each warp takes (`warpreg.designs.interface.Residency`)."""
    shared: int
    """Warp-registers that each group of warps takes besides."""
    group: int
    """Warps of a group."""
    pool: int
    """Warp-registers reserved for all warps of the SM, at least."""
    misfit: str = ""
    """Why no thread block fits and what would let one fit (`warpreg.counting.fitting`); empty if one fits."""

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
    launch: Launch, machine: Machine, registers: int | None = None, chosen: ConfiguredDesign | None = None
) -> Residency:
    """The residency of a launch's blocks, shared memory included; ``registers`` replaces the kernel's demand.

    ``chosen``: the design, by default the plain register file.  Raises DesignError for a design that the machine cannot
    have.
    """
    kernel = launch.kernel
    demanded = kernel.register_demand
    chosen = chosen or ConfiguredDesign.of((), {})
    capacity = capacity_of(launch, machine, chosen, registers)
    return Residency(
        kernel=kernel.name,
        registers=demanded if registers is None else registers,
        demanded=demanded,
        given=registers is not None,
        blocks=capacity.blocks,
        warps=capacity.warps,
        fraction=capacity.occupancy,
        limiter=capacity.limiter,
        held=capacity.residency.registers,
        shared=capacity.residency.shared,
        group=capacity.residency.group,
        pool=capacity.residency.pool,
        misfit="" if capacity.blocks else misfit(launch, machine, chosen, registers, capacity.limiter),
    )


def theoretical(residencies: Sequence[Residency]) -> str:
    """Theoretical occupancy of the kernels of a run in words, with what limits it: ``83%, registers``."""
    if not residencies:
        return ""
    fractions = sorted(one.fraction for one in residencies)
    ends = dict.fromkeys(f"{fraction:.0%}" for fraction in (fractions[0], fractions[-1]))
    return f"{' to '.join(ends)}, {' or '.join(dict.fromkeys(one.limiter for one in residencies))}"
