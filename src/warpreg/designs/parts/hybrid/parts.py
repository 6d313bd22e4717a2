"""What the designs with two technologies declare: sizes, tables, logic and storage."""

from __future__ import annotations

from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.hybrid.events import POWERED_CMOS, POWERED_TFET, RESOURCES
from warpreg.gpu.machine import Machine

LEVELS = ("MRF", "TFET")
"""CMOS vectors, and TFET vectors."""
VECTORS, TFET_VECTORS = 512, 112
VECTOR_BYTES = 128
"""32 lanes of 4 bytes."""


def storage(cmos: int, tfet: int, shared: int = 0, *, enabled: bool) -> tuple[Structure, ...]:
    """Both parts of the register file with the registers that are on; so many TFET vectors take the place of CMOS ones
    where all of both are listed.  Not ``enabled``: the plain register file.
    """
    if not enabled:
        return Structure("MRF", registers=shared or cmos + tfet), Structure("TFET", registers=0)
    return (
        Structure("MRF", registers=cmos, powered=RESOURCES[POWERED_CMOS]),
        Structure("TFET", registers=tfet, powered=RESOURCES[POWERED_TFET], replaces_bytes=shared * VECTOR_BYTES),
    )


def renaming_stage(vectors: int, banks: int) -> tuple[Table, ...]:
    """The renaming table and the two lists of free vectors (section 3.3: 512 entries of 9 bits each).

    With several banks an instruction finds all its registers in a cycle, as far as they are in different ones; the
    lists are spread over as many, so that several vectors can come back in a cycle.  Banks have two ports, to read an
    entry and write another (all assumed).
    """
    bits = max(1, (vectors - 1).bit_length())
    return (
        Table("renaming", vectors, bits, banks=banks, ports=2, stages=1),
        Table("free-vectors", vectors, bits, banks=banks, ports=2, stages=0),
    )


def prediction_unit() -> Logic:
    """Counters and arithmetic of the prediction (section 3.3), in every cycle of every SM."""
    return Logic("stall-prediction")


def checked_residency(
    design: str, parameters: Any, program: Program, machine: Machine, tfet: int | None = None
) -> Residency:
    """That of the plain register file: the technologies share its vectors, and occupancy counts both.

    Raises DesignError, with the value to set, where the parameters are not those of the machine; ``tfet`` vectors are
    renamed.
    """
    expected = {"vectors": (machine.warp_registers, "warp-registers of an SM")}
    if tfet is not None:
        expected["banks"] = (machine.register_file.banks, "banks")
        expected["refill"] = (machine.control_cycles, "cycles of control instructions")
    for name, (number, what) in expected.items():
        if (found := getattr(parameters, name)) != number:
            raise DesignError(f"{design}: {name} expects {number}, the {what} of {machine.name}, found {found}")
    if tfet is not None and tfet > parameters.vectors:
        raise DesignError(f"{design}: tfet expects at most {parameters.vectors}, all vectors of an SM, found {tfet}")
    reference = getattr(parameters, "reference", 1)
    if reference & reference - 1:
        raise DesignError(f"{design}: reference expects a power of two (a shift divides), found {reference}")
    return unshared(machine, program.register_count)


def vectors_parameter() -> Any:
    """The parameter ``vectors``."""
    return parameter(
        VECTORS, unit="vectors", low=32, high=65536, machine="warp_registers", source="tfet §3.3, §4.1: 16K registers"
    )


def tfet_parameter() -> Any:
    """The parameter ``tfet``."""
    return parameter(
        TFET_VECTORS, unit="vectors", low=0, high=65536, source="tfet §3.3: 3.5K registers, 12.5K are CMOS"
    )


def cycles_parameter() -> Any:
    """The parameter ``cycles``."""
    return parameter(2, unit="cycles", low=1, high=64, source="tfet §3.2: access time to a TFET register")
