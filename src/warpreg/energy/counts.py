"""Counts of a design: accesses of warp-registers, by structure, action and datapath.

One access moves one warp-register (32 lanes x 32 bits); a 64-bit operand is two.  Counts are independent of technology.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from warpreg.energy.array import ArraySpec
from warpreg.energy.errors import EnergyError

Action = Literal["read", "write"]
Datapath = Literal["private", "shared"]

WARP_REGISTER_BITS = 32 * 32
PER = ("chip", "SM", "scheduler", "warp")
"""What a piece of hardware can belong to; ``warp`` is a warp slot."""


@dataclass(frozen=True, slots=True)
class Structure:
    """The storage that is accessed."""

    level: str
    """Its name: ``"MRF"``, ``"RFC"``, ``"ORF"``, ``"LRF"``, or a name defined by the design."""
    entries: int | None = None
    """Size per warp; optional if the technology prints only one size."""
    warps: int | None = None
    """Number of warps that have entries; optional likewise."""
    array: ArraySpec | None = None
    """One bank.  A level that the technology does not define needs it and the distances; for other levels they override
    those of the technology, unless the structure ``yields`` to it.
    """
    private_mm: float | None = None
    """Distance to the private datapath."""
    shared_mm: float | None = None
    """Distance to the shared datapath."""
    per: str = "SM"
    """What owns the storage: each ``SM``, ``scheduler`` or ``warp`` slot has one; ``warps`` are those that share it."""
    replaces_bytes: int = 0
    """Storage that the plain machine has in its place, which is not added."""
    powered: str | None = None
    """A resource of the design: the entries (warp-registers) of an SM that leak.  The others are gated."""
    yields: bool = False
    """What the technology says of the level goes first."""
    registers: int | None = None
    """What an SM has of the level, in warp-registers, if the size of a bank does not say it: of a main register file in
    several levels each gives its share.
    """

    def __post_init__(self) -> None:
        least_of = {"entries": 0, "warps": 1, "private_mm": 0, "shared_mm": 0, "replaces_bytes": 0, "registers": 0}
        for name, least in least_of.items():
            value = getattr(self, name)
            if value is not None and not least <= value < math.inf:
                raise EnergyError(f"{self.level} {name}: expected at least {least}, found {value}")
        if self.per not in PER:
            raise EnergyError(f"{self.level} per: expected one of {', '.join(PER)}, found '{self.per}'")

    @property
    def is_empty(self) -> bool:
        """Whether it has no entries; then it costs nothing and must have no accesses."""
        return self.entries == 0 or self.registers == 0


@dataclass(frozen=True, slots=True)
class Access:
    """``count`` accesses between a structure and the units of a datapath: operands, results, fills that join a read.

    ``amount`` is what they moved, in whole warp-registers: less than ``count`` if some took only a slice of one.  It is
    ``count`` if not given.  Energy follows it.
    """

    structure: Structure
    action: Action
    datapath: Datapath
    count: float
    amount: float = math.nan

    def __post_init__(self) -> None:
        if self.action not in ("read", "write") or self.datapath not in ("private", "shared"):
            found = f"{self.action} and {self.datapath}"
            raise EnergyError(f"access: expected read or write and private or shared, found {found}")
        if math.isnan(self.amount):
            object.__setattr__(self, "amount", self.count)
        for number in (self.count, self.amount):
            _check_count(self.structure.level, self.structure.is_empty, number)


@dataclass(frozen=True, slots=True)
class Move:
    """``count`` warp-registers read from one structure and written to another: evictions, flushes, displacements."""

    source: Structure
    target: Structure
    count: float

    def __post_init__(self) -> None:
        for structure in (self.source, self.target):
            _check_count(structure.level, structure.is_empty, self.count)


def _check_count(level: str, is_empty: bool, count: float) -> None:
    if not 0 <= count < math.inf:
        raise EnergyError(f"{level} count: expected a number of accesses, found {count}")
    if is_empty and count:
        raise EnergyError(f"{level} count: expected 0 on a structure without entries, found {count:g}")
