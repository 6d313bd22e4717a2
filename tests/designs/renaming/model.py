"""Packing, virtualization, CORF and CORF++ as plain dictionaries that are searched; the reference for small streams.

Instructions run one after the other: all sources are read, dead registers are released, then results are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Key = tuple[int, int]
"""Warp and register."""
Place = tuple[int, frozenset[int]]
"""Physical register and slices of it, 0 the least significant."""
Side = Literal["left", "right"]


@dataclass(frozen=True)
class Source:
    """A source operand; ``last``: nothing reads the value afterwards."""

    register: int
    last: bool = False


@dataclass(frozen=True)
class Result:
    """A result of ``size`` bytes; ``partial``: other lanes keep their old bytes; ``dead``: nothing reads it."""

    register: int
    size: int
    partial: bool = False
    dead: bool = False


@dataclass
class Model:
    """One SM with ``physical`` registers.

    ``packs``: values take as many slices as they need, else all four.  ``frees``: at the last read.  ``coalesces``: two
    sources share a read, if they are in one physical register or, with ``dual``, in one bank.  ``buddy`` gives CORF's
    pairs; slices are held for them if it ``reserves``.  ``side`` gives the sides of CORF++.  With ``warp_banks`` each
    bank is an equal part of the physical registers and a warp has one bank; else physical register p is in bank p mod
    ``banks``.  With ``own`` the search begins at so many physical registers of the warp's own.
    """

    physical: int
    banks: int = 1
    packs: bool = True
    frees: bool = False
    coalesces: bool = False
    dual: bool = False
    adjacent: bool = True
    reserves: bool = True
    warp_banks: bool = False
    own: int = 0
    buddy: Mapping[int, int] = field(default_factory=dict)
    side: Mapping[int, Side] = field(default_factory=dict)
    place: dict[Key, Place] = field(default_factory=dict)
    held: dict[int, Key] = field(default_factory=dict)
    had_place: set[Key] = field(default_factory=set)
    both_placed: set[frozenset[Key]] = field(default_factory=set)
    packed: set[frozenset[Key]] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def run(self, warp: int, sources: Sequence[Source], results: Sequence[Result]) -> list[list[int]]:
        """One instruction; returns the registers of each read access."""
        reads = self.read(warp, [source.register for source in sources])
        for source in sources:
            self.end_of_source(warp, source)
        for result in results:
            self.write((warp, result.register), result)
        return reads

    def end_of_source(self, warp: int, source: Source) -> None:
        if self.frees and source.last:
            self.kill((warp, source.register))

    def kill(self, key: Key) -> None:
        """Nothing reads the register any more."""
        self.counts["released"] += key in self.place
        self.release(key)

    def read(self, warp: int, registers: Sequence[int]) -> list[list[int]]:
        groups: list[list[int]] = []
        for register in registers:
            alone = [group[0] for group in groups if len(group) == 1]
            partner = next((r for r in alone if self.shares((warp, r), (warp, register))), None)
            if partner is None:
                groups.append([register])
            else:
                next(group for group in groups if group[0] == partner and len(group) == 1).append(register)
        self.counts["reads"] += len(groups)
        self.counts["coalesced"] += any(len(group) > 1 for group in groups)
        self.counts["multiple"] += len(set(registers)) > 1
        return groups

    def shares(self, one: Key, other: Key) -> bool:
        if not self.coalesces or one not in self.place or other not in self.place:
            return False
        (here, these), (there, those) = self.place[one], self.place[other]
        together = self.bank(here) == self.bank(there) if self.dual else here == there
        return together and not these & those

    def bank(self, position: int) -> int:
        return position * self.banks // self.physical if self.warp_banks else position % self.banks

    def write(self, key: Key, result: Result) -> None:
        size = result.size if self.packs else 4
        self.counts["writes"] += 1
        old = self.place.get(key)
        if old is not None and size <= len(old[1]):
            self.shrink(key, size, result.partial)
        else:
            self.allocate(key, size)
            if old is not None:
                self.counts["grown"] += 1
                self.counts["carried"] += result.partial
        if self.frees and result.dead:
            self.kill(key)

    def shrink(self, key: Key, size: int, partial: bool) -> None:
        position, slices = self.place[key]
        left = self.side.get(key[1]) == "left"
        if size < len(slices) and not (left and partial):
            kept = sorted(slices)[-size:] if left else sorted(slices)[:size]
            self.place[key] = position, frozenset(kept)
            self.counts["shrunk"] += 1

    def allocate(self, key: Key, size: int) -> None:
        found = self.choose(key, size)
        if found is None:
            self.release(key)
            found = self.choose(key, size)
        assert found is not None
        if key in self.place:
            self.release(key)
        self.place[key] = found
        self.counts["allocated"] += 1
        self.count_pair(key)
        self.hold(key)

    def count_pair(self, key: Key) -> None:
        """Each pair of a warp counts once when both have had a place, and once when they share one."""
        warp, register = key
        other = (warp, self.buddy.get(register, -1))
        if other[1] < 0:
            return
        pair = frozenset({key, other})
        self.had_place.add(key)
        self.counts["pairs_placed"] += other in self.had_place and pair not in self.both_placed
        if other in self.had_place:
            self.both_placed.add(pair)
        if other in self.place:
            together = self.place[other][0] == self.place[key][0]
            self.counts["buddies_placed"] += 1
            self.counts["buddies_packed"] += together
            self.counts["pairs_packed"] += together and pair not in self.packed
            if together:
                self.packed.add(pair)

    def hold(self, key: Key) -> None:
        """The rest of an empty physical register waits for the buddy of what is placed there."""
        other = (key[0], self.buddy.get(key[1], -1))
        if other[1] < 0 or not self.reserves:
            return
        position, slices = self.place[key]
        if other in self.place:
            self.held.pop(self.place[other][0], None)
        elif len(self.free(position)) == 4 - len(slices) > 0:
            self.held[position] = key

    def release(self, key: Key) -> None:
        if key in self.place:
            position, _ = self.place.pop(key)
            if self.held.get(position) == key:
                del self.held[position]

    def free(self, position: int) -> frozenset[int]:
        return frozenset(range(4)).difference(*(slices for at, slices in self.place.values() if at == position))

    def choose(self, key: Key, size: int) -> Place | None:
        warp, register = key
        everywhere = range(self.physical)
        searched: Sequence[int] = everywhere
        if self.own and (warp + 1) * self.own <= self.physical:
            searched = [*range(warp * self.own, (warp + 1) * self.own), *everywhere]
        if self.warp_banks or self.dual:
            bank = everywhere
            if self.warp_banks:
                rows = self.physical // self.banks
                bank = range(warp % self.banks * rows, (warp % self.banks + 1) * rows)
            wanted = {"left": frozenset(range(4 - size, 4)), "right": frozenset(range(size))}.get(
                self.side.get(register, "")
            )
            for position in bank:
                if wanted is not None and size < 4 and wanted <= self.free(position):
                    return position, wanted
            return self.first_fit(bank, size) or self.first_fit(everywhere, size)
        if register in self.buddy:
            other = self.place.get((warp, self.buddy[register]))
            if other is None:
                empty = next((p for p in searched if len(self.free(p)) == 4), None)
                if empty is not None:
                    return empty, frozenset(range(size))
            elif (slices := self.fitting(self.free(other[0]), size)) is not None:
                return other[0], slices
        return self.first_fit(searched, size)

    def first_fit(self, positions: Sequence[int], size: int) -> Place | None:
        for position in positions:
            if position not in self.held and (slices := self.fitting(self.free(position), size)) is not None:
                return position, slices
        return None

    def fitting(self, free: frozenset[int], size: int) -> frozenset[int] | None:
        if not self.adjacent:
            return frozenset(sorted(free)[:size]) if len(free) >= size else None
        for lowest in range(5 - size):
            if set(range(lowest, lowest + size)) <= free:
                return frozenset(range(lowest, lowest + size))
        return None

    def in_use(self) -> int:
        """Physical registers with a slice in use."""
        return len({position for position, _ in self.place.values()})

    def end(self, warp: int) -> None:
        """The warp has ended."""
        for key in [key for key in self.place if key[0] == warp]:
            self.release(key)
        self.had_place = {key for key in self.had_place if key[0] != warp}
        for pairs in (self.both_placed, self.packed):
            pairs -= {pair for pair in pairs if all(key[0] == warp for key in pair)}
