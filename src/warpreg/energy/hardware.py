"""What hardware beside the levels costs: tables in front of operand fetch, and logic (thesis of 2021, §2.8, §3.5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from warpreg.energy.array import ArraySpec
from warpreg.energy.cost import Origin
from warpreg.energy.errors import EnergyError
from warpreg.energy.technology import Technology

UM2_PER_MM2 = 1e6


class TableShape(Protocol):
    """A table: ``entries`` of ``bits`` bits in ``banks``, each with ``ports`` that read or write."""

    @property
    def name(self) -> str: ...
    @property
    def entries(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def banks(self) -> int: ...
    @property
    def ports(self) -> int: ...


@dataclass(frozen=True, slots=True)
class TableCost:
    """A lookup and an update of one entry in pJ; leakage in mW and area in mm^2 of the whole table."""

    read_pj: float
    write_pj: float
    leakage_mw: float
    area_mm2: float
    origin: Origin


@dataclass(frozen=True, slots=True)
class LogicCost:
    """Energy of an event in pJ or dynamic power in mW, the other is 0; leakage in mW, area in mm^2."""

    event_pj: float
    power_mw: float
    leakage_mw: float
    area_mm2: float


def table_cost(technology: Technology, table: TableShape) -> TableCost:
    """The printed figures of a table of that name and shape; what is not printed comes from the array model.

    A printed table of another shape is scaled by the ratio of the array model.  Tables are arrays of the kind of the
    MRF.
    """
    cost = technology.arrays.cost(_spec(technology, table))
    printed = technology.tables.get(table.name)
    if printed is None:
        area = cost.area_um2 / UM2_PER_MM2
        return TableCost(cost.read_pj, cost.write_pj, cost.leakage_mw, area, "model")
    shape = _Shape(table.name, printed.entries, printed.bits, printed.banks, printed.ports)
    known = technology.arrays.cost(_spec(technology, shape))
    same = all(getattr(shape, side) == getattr(table, side) for side in ("entries", "bits", "banks", "ports"))
    leakage = known.leakage_mw if printed.leakage is None else printed.leakage
    area = known.area_um2 / UM2_PER_MM2 if printed.area is None else printed.area
    return TableCost(
        read_pj=_scaled(printed.read, cost.read_pj, known.read_pj),
        write_pj=_scaled(printed.write, cost.write_pj, known.write_pj),
        leakage_mw=_scaled(leakage, cost.leakage_mw, known.leakage_mw),
        area_mm2=_scaled(area, cost.area_um2, known.area_um2),
        origin="printed" if same else "model",
    )


def logic_cost(technology: Technology, name: str, by_event: bool) -> LogicCost:
    """The printed cost of logic.  Raises EnergyError if the technology has none, or none in that way."""
    if (printed := technology.logic.get(name)) is None:
        there = ", ".join(sorted(technology.logic)) or "none"
        raise EnergyError(f"technology {technology.name} has no logic '{name}'; it has: {there}")
    dynamic = printed.energy if by_event else printed.power
    if dynamic is None:
        wanted, found = ("energy", "power") if by_event else ("power", "energy")
        reason = "priced by event" if by_event else "priced by cycle"
        raise EnergyError(
            f"technology {technology.name}: logic '{name}' is {reason}, which needs an entry {wanted}; it has {found}"
        )
    energy, power = (dynamic, 0.0) if by_event else (0.0, dynamic)
    return LogicCost(energy, power, printed.leakage, printed.area)


@dataclass(frozen=True, slots=True)
class _Shape:
    name: str
    entries: int
    bits: int
    banks: int
    ports: int


def _spec(technology: Technology, table: TableShape) -> ArraySpec:
    """The array of a table; a port that reads or writes has the wires of both."""
    kind = technology.levels["MRF"].array
    words = -(-table.entries // table.banks)
    return ArraySpec(kind, words, table.bits, table.ports, table.ports, table.banks)


def _scaled(printed: float, model: float, model_of_printed: float) -> float:
    """A printed figure by the ratio of the model; as it is where the model gives nothing."""
    return printed * model / model_of_printed if model_of_printed else printed
