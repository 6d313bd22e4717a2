"""What the hardware of a design costs beside its accesses: added tables and logic, leakage, storage and area."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import energy
from warpreg.designs import Design
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.hardware_checks import check_hardware
from warpreg.energy import EnergyError, Structure, Technology
from warpreg.energy.cost import access_cost
from warpreg.energy.hardware import logic_cost, table_cost
from warpreg.energy.storage import copies, storage
from warpreg.evaluation.runs.parts import Part
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregError

MRF = "MRF"


@dataclass(frozen=True, slots=True)
class Use:
    """What a run used, summed over its SMs: ``events`` by name; of a timed run also ``cycles`` of each of ``sms`` SMs,
    and ``resources``, each the sum of its values over all cycles and SMs.
    """

    events: Mapping[str, int]
    cycles: float | None = None
    sms: int = 0
    resources: Mapping[str, int] | None = None


def check_prices(choices: Sequence[ConfiguredDesign], machine: Machine, technology: Technology) -> None:
    """Raise EnergyError for a design with a level, table or logic that the technology cannot price."""
    for choice in choices:
        for structure in choice.design.structures(choice.values):
            _check(choice.design.name, f"level {structure.level}", structure, machine, technology)
        check_hardware(choice.design, choice.design.hardware(choice.values, machine))
        for one in _priced(choice.design, choice.values, machine, technology):
            kind = "table" if isinstance(one, Table) else "logic"
            _check(choice.design.name, f"{kind} {one.name}", one, machine, technology)


def parts(design: Design, parameters: Any, use: Use, machine: Machine, technology: Technology) -> tuple[Part, ...]:
    """The levels of a design, MRF first, then the tables and logic that it adds."""
    levels = [_level(one, use, machine, technology) for one in design.structures(parameters)]
    return (
        *levels,
        *(_added(one, use, machine, technology) for one in _priced(design, parameters, machine, technology)),
    )


def for_few_warps(choice: ConfiguredDesign, machine: Machine, technology: Technology) -> tuple[str, ...]:
    """In words, the levels with entries of fewer warps than an SM may run at a time, on a machine without an active
    set: energy and storage are those of so many entries."""
    if machine.schedulers.active_warps is not None:
        return ()
    return tuple(
        f"{choice.design.name}: level {one.level} has entries of {count} warps, and an SM of this machine runs "
        f"{machine.sm.warps}: entries of all need more storage, and more energy an access"
        for one in choice.design.structures(choice.values)
        if one.entries and one.per == "SM" and (count := _warps_with_entries(one, technology)) < machine.sm.warps
    )


def _warps_with_entries(one: Structure, technology: Technology) -> float:
    """Warps that a level has entries for; infinite if its entries belong to no warp."""
    if one.warps is None and one.array is None and one.level in technology.levels:
        return technology.levels[one.level].warps
    return one.warps or math.inf


def _priced(design: Design, parameters: Any, machine: Machine, technology: Technology) -> Iterator[Table | Logic]:
    """The tables and logic of a design, without optional logic that the technology does not have."""
    for one in design.hardware(parameters, machine):
        if isinstance(one, Table) or not one.optional or one.name in technology.logic:
            yield one


def plain_leakage(use: Use, machine: Machine, technology: Technology) -> float | None:
    """Leakage of the plain MRF in pJ over the cycles of its own run."""
    return _level(Structure(MRF), use, machine, technology).leakage_pj


def _level(structure: Structure, use: Use, machine: Machine, technology: Technology) -> Part:
    whole = storage(technology, structure, machine)
    added, area = whole.bytes - structure.replaces_bytes * copies(structure.per, machine), whole.area_mm2
    if structure.level == MRF:
        plain = whole if structure.registers is None else storage(technology, Structure(MRF), machine)
        added, area = whole.bytes - plain.bytes, whole.area_mm2 - plain.area_mm2
    return Part(
        name=structure.level,
        is_level=True,
        bytes=added,
        area_mm2=area,
        dynamic_pj=0.0,
        leakage_pj=_over_time(whole.leakage_mw, use, machine, _powered(structure, whole.registers, use)),
    )


def _powered(structure: Structure, registers: float, use: Use) -> float:
    """The share of its entries that leaked, mean over the run; 1 if none are gated."""
    if structure.powered is None or not use.cycles or not registers:
        return 1.0
    share = (use.resources or {})[structure.powered] / (registers * use.cycles * use.sms)
    if share > 1 + 1e-9:
        raise EnergyError(
            f"{structure.level}: expected at most {registers:g} entries of an SM in resource "
            f"'{structure.powered}', found {share * registers:g} on average"
        )
    return share


def _added(one: Table | Logic, use: Use, machine: Machine, technology: Technology) -> Part:
    if isinstance(one, Table):
        cost = table_cost(technology, one)
        reads, writes = (use.events.get(f"{one.name} {what}", 0) for what in ("lookups", "updates"))
        return Part(
            name=one.name,
            is_level=False,
            bytes=one.entries * one.bits / 8,
            area_mm2=cost.area_mm2,
            dynamic_pj=cost.read_pj * reads + cost.write_pj * writes,
            leakage_pj=_over_time(cost.leakage_mw, use, machine),
        )
    logic = logic_cost(technology, one.name, by_event=one.event is not None)
    number = copies(one.per, machine)
    by_event = None if one.event is None else logic.event_pj * use.events.get(one.event, 0)
    return Part(
        name=one.name,
        is_level=False,
        bytes=0.0,
        area_mm2=logic.area_mm2 * number,
        dynamic_pj=_over_time(logic.power_mw * number, use, machine) if by_event is None else by_event,
        leakage_pj=_over_time(logic.leakage_mw * number, use, machine),
    )


def _over_time(power_mw: float, use: Use, machine: Machine, share: float = 1.0) -> float | None:
    """Energy in pJ of a power on each SM over the run, at the machine's clock; None without cycles."""
    if use.cycles is None:
        return None
    ns = use.cycles * 1000 / machine.chip.clock_mhz
    return power_mw * share * ns * use.sms


def _check(design: str, what: str, one: Structure | Table | Logic, machine: Machine, technology: Technology) -> None:
    try:
        _price(one, machine, technology)
    except WarpregError as problem:
        ways = [f"--technology {name}" for name in energy.names() if _can_price(one, machine, energy.load(name))]
        ways += ["Structure(array=ArraySpec(...)) in the design"] if isinstance(one, Structure) else []
        possible = f" (priced by {', '.join(ways)})" if ways else ""
        raise EnergyError(f"{design}: {what} has no price{possible}: {problem}") from problem


def _price(one: Structure | Table | Logic, machine: Machine, technology: Technology) -> None:
    if isinstance(one, Structure):
        access_cost(technology, one, "read")
        access_cost(technology, one, "write")
        storage(technology, one, machine)
    elif isinstance(one, Table):
        table_cost(technology, one)
    else:
        logic_cost(technology, one.name, by_event=one.event is not None)


def _can_price(one: Structure | Table | Logic, machine: Machine, technology: Technology) -> bool:
    try:
        _price(one, machine, technology)
    except WarpregError:
        return False
    return True
