"""How the operands of a design are fetched on a machine: its own banks where it says so, else the machine's."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.banks import MAX_SLICES, Banks, Collectors
from warpreg.designs.interface.program import Program
from warpreg.designs.loading.design import Design
from warpreg.gpu.machine import Machine
from warpreg.gpu.units import WINDOW, CollectorSet

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
        possible = [slices for slices in range(1, MAX_SLICES + 1) if width % (8 * slices) == 0]
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


def collectors_of(design: Design, parameters: Any, machine: Machine, program: Program) -> Collectors | None:
    """The collectors that the design gives to warp slots, None if it uses the machine's.

    Raises DesignError for collectors smaller than the source registers of an instruction.
    """
    collectors = design.collectors(parameters, machine)
    if collectors is None:
        return None
    needed, pc = _most_sources(program)
    if collectors.entries is not None and collectors.entries < needed:
        raise DesignError(
            f"{design.name}: collectors: entries expects at least {needed}, the registers that instruction {pc} reads, "
            f"found {collectors.entries}"
        )
    return collectors


def with_collectors(machine: Machine, collectors: Collectors | None) -> Machine:
    """The machine with a set of one collector for each warp slot in place of its sets; the ideal operand path has none.
    Raises DesignError for a machine with a read window.

    If a slot owns several collectors, the core makes them of the one.
    """
    if collectors is None or machine.operand_path.kind == "ideal":
        return machine
    if machine.operand_path.kind == WINDOW:
        raise DesignError(
            f"a design whose warps own collectors: machine {machine.name} has none, its operands are read in a window"
        )
    count = machine.sm.warps
    served = tuple(dict.fromkeys(pipe for one in machine.collectors.values() for pipe in one.pipes))
    path = machine.operand_path
    if collectors.operand_ports is not None:
        path = replace(path, operand_ports=collectors.operand_ports)
    return replace(machine, operand_path=path, collectors={"warps": CollectorSet(count, count, False, served)})


def _most_sources(program: Program) -> tuple[int, int]:
    """The registers that an instruction reads at most, and the first instruction that reads so many."""
    starts = program.source_start.tolist()
    counts = [len(set(program.source[a:b].tolist())) for a, b in pairwise(starts)]
    needed = max(counts, default=0)
    return needed, counts.index(needed) if counts else 0


def wrong_slices(design: str, slices: int, found: int) -> DesignError:
    """A hook has named slices that a bank does not have; ``found`` is its mask."""
    named = bin(found) if found > 0 else "0"
    has = f"the banks have {slices} slices" if slices > 1 else "the banks have one slice"
    return DesignError(
        f"{design}: slices expects a mask of 1 to {bin((1 << slices) - 1)}, as {has} (function banks, or "
        f"register_file.slices of the machine), found {named}"
    )
