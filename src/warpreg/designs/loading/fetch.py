"""How the operands of a design are fetched on a machine: its own banks where it says so, else the machine's."""

from __future__ import annotations

from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.banks import MOST_SLICES, Banks
from warpreg.designs.loading.design import Design
from warpreg.gpu.machine import Machine

UNSLICED = Banks(1, 1, shares_port=False)


def banks_of(design: Design, parameters: Any, machine: Machine | None) -> Banks:
    """Slices and row addresses of the banks.

    Raises DesignError for slices that the banks of the machine cannot have: they are equal and of whole bytes.
    """
    own = design.banks(parameters, machine)
    if own is None:
        return machine_banks(machine)
    if machine is not None:
        width = machine.register_file.bank_width_bits
        possible = [slices for slices in range(1, MOST_SLICES + 1) if width % (8 * slices) == 0]
        if own.slices not in possible:
            raise DesignError(
                f"{design.name}: banks: slices expects one of {', '.join(map(str, possible))}, as a bank of "
                f"{machine.name} has {width} bits (register_file.bank_width_bits), found {own.slices}"
            )
    return own


def machine_banks(machine: Machine | None) -> Banks:
    """What a machine file says; words that share an access take a port each."""
    file = machine.register_file if machine is not None else None
    slices, rows = (file.slices, file.row_addresses) if file is not None else (None, None)
    return Banks(slices or 1, rows or 1, shares_port=False)


def wrong_slices(design: str, slices: int, found: int) -> DesignError:
    """A hook has named slices that a bank does not have; ``found`` is its mask."""
    named = bin(found) if found > 0 else "0"
    has = f"the banks have {slices} slices" if slices > 1 else "the banks have one slice"
    return DesignError(
        f"{design}: slices expects a mask of 1 to {bin((1 << slices) - 1)}, as {has} (function banks, or "
        f"register_file.slices of the machine), found {named}"
    )
