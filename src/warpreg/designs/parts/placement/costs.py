"""Energy of an access to one warp-register, array and wire, by level and datapath."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.energy import Technology
from warpreg.energy.cost import access_cost, distance, wire_pj_per_mm
from warpreg.energy.counts import Action, Datapath, Structure
from warpreg.energy.errors import EnergyError

DATAPATHS: tuple[Datapath, ...] = ("private", "shared")
"""Names of the datapaths PRIVATE and SHARED of the program table."""


@dataclass(frozen=True, slots=True)
class LevelCost:
    """pJ of a read and of a write, each by datapath (private, shared); infinite where no wire connects them."""

    read: tuple[float, float]
    write: tuple[float, float]


def level_costs(technology: Technology, structures: Sequence[Structure], wires: bool = True) -> tuple[LevelCost, ...]:
    """The costs of each level, in the order of ``structures``; ``wires=False`` omits wire energy.

    Raises EnergyError for a structure that the technology cannot price.
    """
    return tuple(_level(technology, structure, wires) for structure in structures)


def _level(technology: Technology, structure: Structure, wires: bool) -> LevelCost:
    def both(action: Action) -> tuple[float, float]:
        array = access_cost(technology, structure, action).pj
        private, shared = (array + _wire_pj(technology, structure, datapath, wires) for datapath in DATAPATHS)
        return private, shared

    return LevelCost(read=both("read"), write=both("write"))


def _wire_pj(technology: Technology, structure: Structure, datapath: Datapath, wires: bool) -> float:
    if structure.is_empty:
        return 0.0
    try:
        length_mm = distance(technology, structure, datapath)
    except EnergyError:
        return math.inf
    return length_mm * wire_pj_per_mm(technology) if wires else 0.0
