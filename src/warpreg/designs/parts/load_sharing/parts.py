"""What LARF adds to an SM, and what it expects of the machine (thesis §5.6.4)."""

from __future__ import annotations

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Logic, Program, Residency, Structure, Table
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.load_sharing.events import IN_USE, RESOURCES
from warpreg.gpu.machine import Machine

BASE_BITS, STRIDE_BITS, LANE_BITS, PHYSICAL_BITS = 32, 8, 32, 11
ENTRY_BITS = BASE_BITS + STRIDE_BITS + LANE_BITS + PHYSICAL_BITS
"""83 bits (§5.6.4)."""


def register_file(enabled: bool) -> tuple[Structure, ...]:
    """The main register file; physical registers that are not in use are gated, as with register virtualization."""
    return (Structure("MRF", powered=RESOURCES[IN_USE] if enabled else None),)


def added_hardware(registers: int, banks: int, stages: int, entries: int) -> tuple[Table | Logic, ...]:
    """The renaming table of the existing studies, the address mapping table, and the slot for merging."""
    return (
        Table("renaming", registers, PHYSICAL_BITS, banks=banks, ports=2, stages=stages),
        Table("address-mapping", entries, ENTRY_BITS, banks=1, ports=1, stages=0),
        Logic("merging", event="merged", optional=True),
    )


def checked_residency(physical: int, banks: int, program: Program, machine: Machine) -> Residency:
    """That of the plain register file.  Raises DesignError where the parameters are not those of the machine."""
    if machine.register_file.private_banks:
        raise DesignError(
            f"larf: all warps of an SM share registers, and each bank of {machine.name} belongs to one scheduler"
        )
    for name, value, expected, what in (
        ("physical", physical, machine.warp_registers, "warp-registers of an SM"),
        ("banks", banks, machine.register_file.banks, "banks"),
    ):
        if value != expected:
            raise DesignError(f"larf: {name} expects {expected}, the {what} of {machine.name}, found {value}")
    return unshared(machine, program.register_count)
