"""First fit: each unit, in order of its start, gets the lowest registers that are free over its whole live range.

If none are free, the cheapest of the conflicting units (or the unit itself) is spilled: the one with the fewest
accesses, weighted by loop depth, per freed length (after Poletto and Sarkar, TOPLAS 1999, and Chaitin's spill metric).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warpreg.codegen.regalloc.allocation_units import Unit
from warpreg.codegen.regalloc.bank_assignment import Company
from warpreg.codegen.regalloc.live_ranges import Range

EVERYWHERE = -1
"""All program points, as a bit set."""
STEP = 4096
"""Program points after which those that have passed are dropped from the bit sets."""


@dataclass
class Assignment:
    """Registers of units, placed in the order of their start."""

    limit: int
    """Registers that there are."""
    reserved: tuple[int, ...] = ()
    """Registers that are occupied everywhere, and count as used."""
    banks: int = 0
    """With banks, a unit gets, among the used registers and those below ``spread``, one that no earlier instruction
    still has to read and whose banks its ``company`` uses least; the lowest of several.
    """
    spread: int = 0
    """Registers over which units are spread."""
    company: Company = field(default_factory=dict)
    """Units that are read together with a unit."""
    pending: Mapping[Unit, Mapping[int, Range]] = field(default_factory=dict)
    """Reads of earlier instructions that are still to come."""
    rotate: int = 0
    """Above 0, a unit gets, among the used registers and those below, the one that has been free longest."""
    base: dict[Unit, int] = field(default_factory=dict)
    """The first register of each placed unit."""
    spilled: list[Unit] = field(default_factory=list)
    """Units that are not in registers."""
    used: int = 0
    """The highest register used, plus one."""
    _occupied: list[int] = field(default_factory=list)
    _pending: list[int] = field(default_factory=list)
    _holders: list[list[Unit]] = field(default_factory=list)
    _origin: int = 0

    def place_all(self, units: list[Unit]) -> None:
        """Place units in order of their start, the wider first among those that start together."""
        self._occupied = [0] * self.limit
        self._pending = [0] * self.limit
        self._holders = [[] for _ in range(self.limit)]
        for register in self.reserved:
            self._occupied[register] = EVERYWHERE
            self.used = max(self.used, register + 1)
        for unit in sorted(units, key=lambda u: (u.start, -u.size)):
            self._advance(unit.start)
            base = self._free_base(unit)
            if base is None:
                base = self._make_room(unit)
            if base is None:
                self.spilled.append(unit)
            else:
                self._occupy(unit, base)

    def _advance(self, start: int) -> None:
        """Forget the points before ``start``, which only ``rotate`` needs: no later unit begins there.

        So the bit sets remain as short as live ranges.
        """
        points = start - self._origin
        if points >= STEP and not self.rotate:
            self._occupied = [bits >> points for bits in self._occupied]
            self._pending = [bits >> points for bits in self._pending]
            self._origin = start

    def _points(self, unit: Unit) -> list[tuple[int, int]]:
        """Each word of a unit with its live range, as a bit set of points from the origin on."""
        return [(offset, live.since(self._origin)) for offset, live in unit.words.items()]

    def _free_base(self, unit: Unit) -> int | None:
        words = self._points(unit)
        first = next(self._free_bases(unit, words, self.limit), None)
        if first is not None and self.rotate:
            end = max(self.used, first + unit.size, min(self.rotate, self.limit))
            return min(self._free_bases(unit, words, end), key=lambda base: self._freed(unit, base))
        if first is None or not self.banks or not (unit in self.company or self.pending):
            return first
        end = max(self.used, first + unit.size, min(self.spread, self.limit))
        bases = self._free_bases(unit, words, end)
        return min(bases, key=lambda base: (self._waiting(words, base), self._crowding(unit, base)))

    def _free_bases(self, unit: Unit, words: list[tuple[int, int]], end: int) -> Iterator[int]:
        """The first registers below ``end`` that are free over the whole live range, the lowest first."""
        occupied = self._occupied
        for base in range(0, end - unit.size + 1, unit.alignment):
            for offset, live in words:
                if occupied[base + offset] & live:
                    break
            else:
                yield base

    def _freed(self, unit: Unit, base: int) -> int:
        """The last point before the unit's start at which one of its registers from ``base`` on was occupied."""
        before = (2 << unit.start) - 1
        return max((self._occupied[base + offset] & before).bit_length() for offset in unit.words)

    def _waiting(self, words: list[tuple[int, int]], base: int) -> bool:
        """Whether an earlier instruction may still have to read a register that the unit would occupy."""
        return any(self._pending[base + offset] & live for offset, live in words)

    def _crowding(self, unit: Unit, base: int) -> float:
        """The weight of instructions that would read the unit at ``base`` with another register of the same bank."""
        return sum(
            weight
            for here, other, there, weight in self.company.get(unit, ())
            if other in self.base and (base + here - self.base[other] - there) % self.banks == 0
        )

    def _make_room(self, unit: Unit) -> int | None:
        """Evict the units that are cheapest to spill; None if that is the unit itself."""
        best, victims, price = None, list[Unit](), density(unit)
        for base in range(0, self.limit - unit.size + 1, unit.alignment):
            if any(base + offset in self.reserved for offset in unit.words):
                continue
            blocking = self._blocking(unit, base)
            cost = sum(density(b) for b in blocking)
            if cost < price:
                best, victims, price = base, blocking, cost
        for victim in victims:
            self._vacate(victim)
            self.spilled.append(victim)
        return best

    def _blocking(self, unit: Unit, base: int) -> list[Unit]:
        units: dict[Unit, None] = {}
        for offset, live in unit.words.items():
            register = base + offset
            holders = self._holders[register] = [
                h for h in self._holders[register] if self._range(h, register).end > unit.start
            ]
            units.update((h, None) for h in holders if self._range(h, register).meets(live))
        return list(units)

    def _range(self, holder: Unit, register: int) -> Range:
        return holder.words[register - self.base[holder]]

    def _occupy(self, unit: Unit, base: int) -> None:
        self.base[unit] = base
        for offset, live in self._points(unit):
            self._occupied[base + offset] |= live
            self._holders[base + offset].append(unit)
        for offset, points in self.pending.get(unit, {}).items():
            self._pending[base + offset] |= points.since(self._origin)
        self.used = max(self.used, base + unit.size)

    def _vacate(self, unit: Unit) -> None:
        base = self.base.pop(unit)
        for offset, live in self._points(unit):
            register = base + offset
            self._occupied[register] &= ~live
            self._holders[register] = [h for h in self._holders[register] if h is not unit]


def density(unit: Unit) -> float:
    """Spill cost of a unit per program point that it would free; infinite if it must not be spilled."""
    if math.isinf(unit.weight):
        return math.inf
    return unit.weight / sum(map(len, unit.words.values()))
