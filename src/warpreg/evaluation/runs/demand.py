"""Register demand of a launch on a machine with fewer registers than the kernel uses."""

from __future__ import annotations

import math
from typing import Protocol

from warpreg.gpu import Machine, occupancy
from warpreg.ir.kernel import Kernel


class KernelLaunch(Protocol):
    """A launch of a kernel."""

    @property
    def kernel(self) -> Kernel: ...

    @property
    def block(self) -> tuple[int, int, int]: ...


def demand_on(launch: KernelLaunch, machine: Machine) -> int | None:
    """The machine's registers per thread if the kernel demands more, else None for the kernel's demand.

    The code does not change: spills on such a machine are ignored.
    """
    most = machine.register_file.registers_per_thread
    return most if launch.kernel.register_demand > most else None


def fitting_demand(launch: KernelLaunch, machine: Machine) -> int | None:
    """As `demand_on`, but few enough that the registers of a thread block fit an SM, whose compiler would see to it."""
    demanded = launch.kernel.register_demand
    most = min(demanded, machine.register_file.registers_per_thread)
    fitting = (n for n in range(most, 0, -1) if occupancy(machine, n, 0, math.prod(launch.block)).blocks)
    found = next(fitting, most)
    return None if found == demanded else found
