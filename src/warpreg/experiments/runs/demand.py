"""Register demand of a launch on a machine with fewer registers per thread than the kernel uses."""

from __future__ import annotations

from typing import Protocol

from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel


class KernelLaunch(Protocol):
    """A launch of a kernel."""

    @property
    def kernel(self) -> Kernel: ...


def demand_on(launch: KernelLaunch, machine: Machine) -> int | None:
    """The machine's registers per thread if the kernel demands more, else None for the kernel's demand.

    The code does not change: spills on such a machine are ignored.
    """
    most = machine.register_file.registers_per_thread
    return most if launch.kernel.register_demand > most else None
