"""Rows as they are where every warp is active.

Register caches with entries of each warp were made for machines with a few active warps, and technologies size their
banks for these.  Sub-cores of today have no active set: each warp of a scheduler has entries, in a bank for all of
them, which takes more storage, and more energy for an access.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warpreg import designs, energy, gpu
from warpreg.designs.compiled.rsp import ACTIVE_WARPS
from warpreg.energy.cost import access_cost
from warpreg.energy.counts import Structure
from warpreg.energy.storage import storage
from warpreg.energy.technology import Technology
from warpreg.gpu import Machine

OF_WARPS = ("RFC", "ORF", "LRF", "RSP")
"""Levels whose entries belong to warps; those of the RSP to the active warps of a scheduler, else to those of an SM.
A structure that says for how many warps it has entries, as the cache of LTRF, has entries for all warps, too.
"""
FEW = "energy_of_few_warps"
"""The column of the energy with banks for a few active warps."""


@dataclass(frozen=True, slots=True)
class LevelScaling:
    """By how much an access of a level costs more in a bank of all warps, how many times the storage and its leakage
    are, and the bytes that an SM has more.
    """

    level: str
    factor: float
    times: float
    more_bytes: float


def with_all_warps(row: Mapping[str, Any], design: str, machine: str, technology: str) -> dict[str, Any]:
    """The row with banks for all warps of a scheduler, and what it was in the column `FEW`."""
    scaled = dict(row)
    if "error" in row:
        return scaled
    scaled[FEW] = row["energy_normalized"]
    for one in grown(design, machine, technology):
        column = f"{one.level.lower()}_access_normalized"
        scaled[column] *= one.factor
        scaled["energy_normalized"] += scaled[column] - row[column]
        scaled["added_bytes"] += one.more_bytes
        if "leakage_normalized" in row:
            share = row["leakage_pj"][one.level] / sum(row["leakage_pj"].values())
            scaled["leakage_normalized"] += row["leakage_normalized"] * share * (one.times - 1)
    more = scaled["energy_normalized"] / row["energy_normalized"] if row["energy_normalized"] else 1.0
    scaled["energy_pj"] *= more
    if "energy_ends" in row:
        scaled["energy_ends"] = [end * more for end in row["energy_ends"]]
    return scaled


@functools.cache
def grown(design: str, machine: str, technology: str) -> tuple[LevelScaling, ...]:
    """The levels of a design whose entries belong to warps, on a machine where all warps are active; none on one with
    an active set.  A factor is the greater one of reads and writes.
    """
    described, priced = gpu.load(machine), energy.load(technology)
    if described.schedulers.active_warps is not None:
        return ()
    chosen = designs.load(design)
    structures = chosen.structures(chosen.configure(**chosen.of_machine(described)))
    return tuple(_grown(one, described, priced) for one in structures if one.entries and _is_of_warps(one))


def _is_of_warps(one: Structure) -> bool:
    return one.level in OF_WARPS or (one.warps or 1) > 1


def _grown(one: Structure, machine: Machine, technology: Technology) -> LevelScaling:
    of_scheduler = machine.sm.warps // machine.schedulers.count
    if one.array is None:
        counted, bank = one.warps or technology.levels[one.level].warps, replace(one, warps=of_scheduler)
    elif one.per == "scheduler":
        counted, bank = ACTIVE_WARPS * machine.schedulers.count, _longer(one, of_scheduler / ACTIVE_WARPS)
    else:
        assert one.warps is not None
        counted, bank = one.warps, _longer(one, of_scheduler / one.warps)
    factor = max(
        access_cost(technology, bank, action).pj / access_cost(technology, one, action).pj
        for action in ("read", "write")
    )
    times = machine.sm.warps / counted
    return LevelScaling(one.level, factor, times, storage(technology, one, machine).bytes * (times - 1))


def _longer(one: Structure, times: float) -> Structure:
    """A structure with that many times the entries in a bank."""
    assert one.array is not None
    assert one.entries is not None
    entries, words = round(one.entries * times), round(one.array.words * times)
    return replace(one, entries=entries, array=replace(one.array, words=words))
