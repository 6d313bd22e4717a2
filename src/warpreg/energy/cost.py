"""The energy of one warp-register access: array and wires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpreg.energy.array import ArraySpec
from warpreg.energy.counts import WARP_REGISTER_BITS, Action, Datapath, Structure
from warpreg.energy.errors import EnergyError
from warpreg.energy.sections import Level
from warpreg.energy.technology import Technology
from warpreg.ir.errors import UnknownNameError

Origin = Literal["printed", "assumed", "model", "none"]


@dataclass(frozen=True, slots=True)
class AccessCost:
    """Energy of the array for one warp-register, in pJ.

    ``origin``: ``printed`` in the technology's source, ``assumed`` there, from the array ``model``, or ``none`` (no
    entries).
    """

    pj: float
    origin: Origin


def access_cost(technology: Technology, structure: Structure, action: Action) -> AccessCost:
    """Array energy of one access, without wires.

    A printed size has the printed energy; sizes count in words, so 6 entries of 4 warps cost the same as 3 entries of 8
    warps.  Other sizes use the array model, but never less than a smaller printed size.  Raises ``EnergyError`` if the
    size is missing and ``UnknownNameError`` for a level that neither the technology nor the structure describes.
    """
    if structure.is_empty:
        return AccessCost(0.0, "none")
    if structure.array is not None and describes_itself(technology, structure):
        return AccessCost(_modelled(technology, structure.array, action), "model")
    level = level_of(technology, structure)
    words = words_of(level, structure)
    accesses = WARP_REGISTER_BITS / technology.process.access
    printed = {size: accesses * (read if action == "read" else write) for size, read, write in level.printed()}
    if words in printed:
        assumed = technology.origins[f"level.{structure.level}.{action}"].assumed
        return AccessCost(printed[words], "assumed" if assumed else "printed")
    smaller = [pj for size, pj in printed.items() if size < words]
    return AccessCost(max(_modelled(technology, level.spec(words), action), *smaller, 0.0), "model")


def wire_cost(technology: Technology, structure: Structure, datapath: Datapath) -> float:
    """Wire energy of one warp-register between a structure and a datapath, in pJ."""
    if structure.is_empty:
        return 0.0
    return distance(technology, structure, datapath) * wire_pj_per_mm(technology)


def move_cost(technology: Technology, source: Structure, target: Structure) -> float:
    """Wire energy of one warp-register between two structures, in pJ.

    The length is the difference of their distances to the private datapath: both are on one line (assumed).
    """
    if source.is_empty or target.is_empty:
        return 0.0
    length_mm = abs(distance(technology, source, "private") - distance(technology, target, "private"))
    return length_mm * wire_pj_per_mm(technology)


def wire_pj_per_mm(technology: Technology) -> float:
    """Energy of one warp-register over one mm, in pJ."""
    return technology.wire.energy * WARP_REGISTER_BITS / technology.wire.bits


def distance(technology: Technology, structure: Structure, datapath: Datapath) -> float:
    """Wire length between a structure and a datapath, in mm; raises ``EnergyError`` if they are not connected."""
    own = structure.private_mm if datapath == "private" else structure.shared_mm
    if own is not None and describes_itself(technology, structure):
        return own
    level = technology.levels.get(structure.level)
    known = None if level is None else level.private if datapath == "private" else level.shared
    if known is None:
        raise EnergyError(f"{structure.level}: no distance to the {datapath} datapath in technology {technology.name}")
    return known


def describes_itself(technology: Technology, structure: Structure) -> bool:
    """Whether the array and the distances of a structure hold: not if it yields to a level of the technology."""
    return not structure.yields or structure.level not in technology.levels


def level_of(technology: Technology, structure: Structure) -> Level:
    """The technology's level of a structure.  Raises ``UnknownNameError`` if it has none."""
    if structure.level not in technology.levels:
        raise UnknownNameError(f"level in technology {technology.name}", structure.level, technology.levels)
    return technology.levels[structure.level]


def words_of(level: Level, structure: Structure) -> int:
    """Words of a bank of a structure.  Raises ``EnergyError`` if neither says how many entries it has."""
    entries = structure.entries
    if entries is None:
        if len(level.entries) > 1:
            raise EnergyError(f"{structure.level}: expected a number of entries, found none")
        entries = level.entries[0]
    return entries * (structure.warps or level.warps)


def _modelled(technology: Technology, spec: ArraySpec, action: Action) -> float:
    cost = technology.arrays.cost(spec)
    return (cost.read_pj if action == "read" else cost.write_pj) * WARP_REGISTER_BITS / spec.word_bits
