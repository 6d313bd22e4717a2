"""Registers that a launch counts with on a machine whose threads have fewer than its kernel was compiled to."""

from __future__ import annotations

from typing import Protocol

from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel


class KernelLaunch(Protocol):
    """A launch of a kernel."""

    @property
    def kernel(self) -> Kernel: ...


def demand_on(launch: KernelLaunch, machine: Machine) -> int | None:
    """The machine's registers of a thread where the kernel demands more, else None, the kernel's own demand.

    The code stays what it is: that it would spill on such a machine is left out.
    """
    most = machine.register_file.registers_per_thread
    return most if launch.kernel.register_demand > most else None
