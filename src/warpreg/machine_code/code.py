"""A function of a listing beside the records of its cubin."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.machine_code.cubin import Cubin, KernelRecord
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.listing import Function, ListedInstruction

PARAMETER_BASES = {"sm_80": 0x160, "sm_90": 0x210}
"""Where parameters begin in constant bank 0; the word that a kernel without parameters has too."""


@dataclass(frozen=True, slots=True)
class Code:
    """A function of a listing, the architecture, and what its cubin says."""

    function: Function
    architecture: str
    cubin: Cubin
    file: str = "listing"

    @property
    def record(self) -> KernelRecord:
        """The record of the kernel.  Raises MachineCodeError if the cubin lacks it."""
        if self.function.name not in self.cubin.kernels:
            raise MachineCodeError(f"{self.file}: the cubin has no kernel '{self.function.name}'")
        return self.cubin.kernels[self.function.name]

    @property
    def first_parameter(self) -> int:
        """The byte of constant bank 0 at which parameters begin."""
        return self.record.parameter_base or PARAMETER_BASES.get(self.architecture, 0)

    def place(self, listed: ListedInstruction) -> str:
        """Where an instruction stands, for messages."""
        return f"{self.file}:{listed.line}: {self.function.name}+{listed.address:#x}"

    def label(self, name: str, listed: ListedInstruction) -> int:
        """The address of a label that an instruction names.  Raises MachineCodeError if the function lacks it."""
        if name.strip() not in self.function.labels:
            raise MachineCodeError(f"{self.place(listed)}: no label '{name}' in the function")
        return self.function.labels[name.strip()]
