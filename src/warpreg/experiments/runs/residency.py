"""Resident warps of a kernel on an SM, with its register demand or a number that a paper prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.gpu import Machine, occupancy
from warpreg.simt import Launch


@dataclass(frozen=True, slots=True)
class Residency:
    """``registers`` per thread and the resulting occupancy: resident ``warps`` of one SM, as a ``fraction`` of the
    maximum, bounded by ``limiter``.  ``given``: the user set the registers; the kernel demands ``demanded``."""

    kernel: str
    registers: int
    demanded: int
    given: bool
    warps: int
    fraction: float
    limiter: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "registers_per_thread": self.registers,
            "registers": "given" if self.given else "compiled",
            "registers_demanded": self.demanded,
            "resident_warps": self.warps,
            "occupancy": self.fraction,
            "limiter": self.limiter,
        }


def residency(launch: Launch, machine: Machine, registers: int | None = None) -> Residency:
    """The residency of a launch's blocks, shared memory included; ``registers`` replaces the kernel's demand."""
    kernel = launch.kernel
    demanded = kernel.register_demand
    taken = demanded if registers is None else registers
    x, y, z = launch.block
    found = occupancy(machine, taken, launch.shared_bytes, x * y * z)
    return Residency(kernel.name, taken, demanded, registers is not None, found.warps, found.fraction, found.limiter)
