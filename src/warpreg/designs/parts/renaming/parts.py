"""What the designs that rename declare of the register file: its size, banks, tables and logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Banks, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.renaming.events import EVENTS, IN_USE, OPERANDS, RESOURCES
from warpreg.designs.parts.renaming.slices import WHOLE
from warpreg.gpu.machine import Machine

PHYSICAL_BITS = 10
MAP_BITS = 4


@dataclass(frozen=True)
class RenamedFile:
    """Size of a register file behind a renaming table."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    physical: int = parameter(
        1024, unit="warp-registers", low=32, high=65536, machine="warp_registers", source="corf §2.8: 128 KB an SM"
    )
    banks: int = parameter(4, unit="banks", low=1, high=64, machine="register_file.banks", source="corf §2.2")
    table_entries: int = parameter(
        3024, unit="entries", low=1, high=1 << 20, source="corf §2.6: 48 warps of 63 registers"
    )
    renaming_stages: int = parameter(
        1,
        unit="cycles",
        low=0,
        high=8,
        source="corf §2.6: the table is looked up in the cycle that moves an instruction to a collector, and a port"
        " conflict delays the read; 0: a conflict of one cycle is hidden too; 2: another cycle for all",
    )


def structures(parameters: RenamedFile) -> tuple[Structure, ...]:
    """The register file, gated."""
    return register_file(parameters.enabled)


def row_banks(parameters: RenamedFile) -> Banks | None:
    """Banks with slices and one row address."""
    return sliced_banks(row_addresses=1) if parameters.enabled else None


def register_file(enabled: bool) -> tuple[Structure, ...]:
    """The main register file; physical registers that are not in use are gated (thesis §2.7, Figure 2.18)."""
    return (Structure("MRF", powered=RESOURCES[IN_USE] if enabled else None),)


def sliced_banks(row_addresses: int) -> Banks:
    """Banks of which the four slices are read alone; what shares an access takes one port (thesis §2.2, §2.5.2)."""
    return Banks(slices=WHOLE, row_addresses=row_addresses, shares_port=True)


LOGIC: Mapping[str, Logic] = {
    "operand": Logic("coalescing", EVENTS[OPERANDS]),
    "cycle": Logic("coalescing"),
    "chip": Logic("coalescing", per="chip"),
}
"""How the power of the coalescing logic is charged, see `logic_parameter`."""


def added_hardware(parameters: RenamedFile, *, coalesces: bool, logic: str = "operand") -> tuple[Table | Logic, ...]:
    """The renaming table, the free map and the logic (thesis §2.6, §2.8); nothing if it is not enabled."""
    if not parameters.enabled:
        return ()
    entries, bits = parameters.table_entries, PHYSICAL_BITS + WHOLE
    renaming = Table("renaming", entries, bits, banks=parameters.banks, ports=2, stages=parameters.renaming_stages)
    free_map = Table("free-map", parameters.physical, MAP_BITS, banks=1, ports=2, stages=0)
    return (renaming, free_map, *([LOGIC[logic]] if coalesces else []))


def checked_residency(design: str, parameters: RenamedFile, program: Program, machine: Machine) -> Residency:
    """That of the plain register file: a warp never has more values than registers, and each fits a physical register.

    Raises DesignError, with the value to set, where the parameters are not those of the machine.
    """
    for name, value, expected, what in (
        ("physical", parameters.physical, machine.warp_registers, "warp-registers of an SM"),
        ("banks", parameters.banks, machine.register_file.banks, "banks"),
    ):
        if value != expected:
            raise DesignError(f"{design}: {name} expects {expected}, the {what} of {machine.name}, found {value}")
    return unshared(machine, program.register_count)


SEARCHES = ("sm", "warp")


def search_parameter() -> Any:
    """The parameter ``search``."""
    return parameter(
        "sm",
        choices=SEARCHES,
        source="corf §2.2, §2.4.3 do not say where first fit begins; sm: at the first physical register of the SM;"
        " warp: at those of the warp's slot, as many as it has registers, then at the first of the SM",
    )


def carry_parameter() -> Any:
    """The parameter ``carry``."""
    return parameter(
        True,
        source="assumed: corf §2.6 moves a value that grows and does not say how the bytes of inactive lanes follow;"
        " off: without a read",
    )


def survey_parameter(source: str) -> Any:
    """The parameter ``survey``."""
    return parameter(False, source=source)


def logic_parameter() -> Any:
    """The parameter ``logic``."""
    return parameter(
        "operand",
        choices=tuple(LOGIC),
        source="corf §2.8: a power without a unit that draws it; an SM's while it packs or unpacks operands, an SM's in"
        " every cycle, or the chip's in every cycle",
    )
