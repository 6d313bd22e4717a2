"""Counts -> energy: a pure function of accesses and a technology (ISCA 2011 §4.3, §5.4; MICRO 2011 §5.2, §6.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from warpreg.energy.cost import Origin, access_cost, move_cost, wire_cost
from warpreg.energy.counts import Access, Action, Move
from warpreg.energy.errors import EnergyError
from warpreg.energy.technology import Technology

MoveWires = Literal["once", "both"]


@dataclass(frozen=True, slots=True)
class EnergyLine:
    """The energy of one kind of access.

    ``datapath`` is ``private``, ``shared`` or ``move``; ``origin`` is the source of the array energy.
    """

    level: str
    action: Action
    datapath: str
    accesses: float
    access_pj: float
    wire_pj: float
    origin: Origin


@dataclass(frozen=True, slots=True)
class LevelEnergy:
    """Array and wire energy of one level; pJ in a report, fractions of the baseline once normalized."""

    access: float
    wire: float

    @property
    def total(self) -> float:
        """Array and wire energy together."""
        return self.access + self.wire


@dataclass(frozen=True, slots=True)
class EnergyReport:
    """The energy of a run in one technology, line by line."""

    technology: str
    technology_digest: str
    lines: tuple[EnergyLine, ...]

    @property
    def access_pj(self) -> float:
        """Energy of all arrays."""
        return math.fsum(line.access_pj for line in self.lines)

    @property
    def wire_pj(self) -> float:
        """Energy of all wires."""
        return math.fsum(line.wire_pj for line in self.lines)

    @property
    def total_pj(self) -> float:
        """Energy of arrays and wires."""
        return self.access_pj + self.wire_pj

    def levels(self) -> dict[str, LevelEnergy]:
        """pJ by level, in the order in which levels first appear."""
        return {name: _sum(line for line in self.lines if line.level == name) for name in self._names()}

    def _names(self) -> dict[str, None]:
        return {line.level: None for line in self.lines}


@dataclass(frozen=True, slots=True)
class NormalizedEnergy:
    """A report over its baseline: fractions of the baseline's total energy, by level."""

    levels: Mapping[str, LevelEnergy]

    @property
    def total(self) -> float:
        """Energy divided by that of the baseline."""
        return math.fsum(level.total for level in self.levels.values())

    @property
    def saving(self) -> float:
        """1 - total; negative where the design costs energy."""
        return 1 - self.total


def account(
    counts: Iterable[Access | Move], technology: Technology, *, wires: bool = True, move_wires: MoveWires = "once"
) -> EnergyReport:
    """The energy of ``counts``.

    ``wires=False`` omits wire energy, as the papers' ideal limits and ISCA 2011 Figure 12 do.  ``move_wires`` selects
    the wire energy of a move between levels: ``once`` is the distance between them, ``both`` the distances of a read
    and of a write to the datapath.
    """
    lines = (line for item in counts for line in _lines(item, technology, move_wires))
    kept = lines if wires else (_without_wire(line) for line in lines)
    return EnergyReport(technology.name, technology.digest, tuple(kept))


def normalized(report: EnergyReport, baseline: EnergyReport) -> NormalizedEnergy:
    """``report`` divided by ``baseline``.  Raises EnergyError for different technologies or a baseline of 0 pJ."""
    if report.technology_digest != baseline.technology_digest:
        raise EnergyError(f"normalizing: expected one technology, found {report.technology} and {baseline.technology}")
    whole = baseline.total_pj
    if whole <= 0:
        raise EnergyError("normalizing: expected a baseline that used energy, found 0 pJ")
    levels = report.levels().items()
    return NormalizedEnergy({name: LevelEnergy(pj.access / whole, pj.wire / whole) for name, pj in levels})


def _lines(item: Access | Move, technology: Technology, move_wires: MoveWires) -> Iterator[EnergyLine]:
    if isinstance(item, Access):
        cost = access_cost(technology, item.structure, item.action)
        wire = wire_cost(technology, item.structure, item.datapath) * item.amount
        level = item.structure.level
        yield EnergyLine(level, item.action, item.datapath, item.count, cost.pj * item.amount, wire, cost.origin)
        return
    out = access_cost(technology, item.source, "read")
    into = access_cost(technology, item.target, "write")
    if move_wires == "both":
        away, toward = (wire_cost(technology, end, "private") for end in (item.source, item.target))
    else:
        away, toward = 0.0, move_cost(technology, item.source, item.target)
    n = item.count
    yield EnergyLine(item.source.level, "read", "move", n, out.pj * n, away * n, out.origin)
    yield EnergyLine(item.target.level, "write", "move", n, into.pj * n, toward * n, into.origin)


def _without_wire(line: EnergyLine) -> EnergyLine:
    return EnergyLine(line.level, line.action, line.datapath, line.accesses, line.access_pj, 0.0, line.origin)


def _sum(lines: Iterable[EnergyLine]) -> LevelEnergy:
    taken = tuple(lines)
    return LevelEnergy(math.fsum(line.access_pj for line in taken), math.fsum(line.wire_pj for line in taken))
