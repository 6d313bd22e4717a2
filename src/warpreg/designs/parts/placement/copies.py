"""Values in LRF and ORF at once: the LRF serves the first reads, the ORF later ones and those of the shared datapath.

The paper found that this is rarely profitable (section 4.6); it is an option so that it can be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpreg.designs.interface.plan import PRIVATE
from warpreg.designs.parts.placement.allocate import Allocation, Entries
from warpreg.designs.parts.placement.candidates import Candidate
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.instances import Read
from warpreg.designs.parts.placement.lrf import BANKS, Lrf


@dataclass(frozen=True, slots=True)
class LrfCopy:
    """Writes of a value in the ORF that also go to an LRF bank, and the reads served there; ``savings`` in pJ."""

    candidate: Candidate
    bank: int
    savings: float


def copies(
    in_orf: Sequence[Allocation], in_lrf: Sequence[Allocation], lrf: LevelCost, orf: LevelCost, kind: Lrf
) -> list[LrfCopy]:
    """Copies that save energy, by savings per occupied slot, in the free entries of the LRF."""
    free = [Entries(1) for _ in range(BANKS[kind])]
    for placed in in_lrf:
        free[placed.entry].take(placed.candidate, 0)
    offers = [copy for placed in in_orf for copy in _offers(placed.candidate, lrf, orf, kind)]
    offers.sort(key=lambda copy: -copy.savings / copy.candidate.slots)
    chosen: list[LrfCopy] = []
    done: set[int] = set()
    for copy in offers:
        value = copy.candidate.writes[0].key
        if value not in done and free[copy.bank].fit(copy.candidate) is not None:
            free[copy.bank].take(copy.candidate, 0)
            done.add(value)
            chosen.append(copy)
    return chosen


def _offers(candidate: Candidate, lrf: LevelCost, orf: LevelCost, kind: Lrf) -> list[LrfCopy]:
    """For each bank, the best number of first reads to serve from it."""
    if candidate.fill or candidate.width > 1 or any(write.datapath != PRIVATE for write in candidate.writes):
        return []
    offers = []
    for bank in range(BANKS[kind]):
        able = [r for r in candidate.reads if r.datapath == PRIVATE and (kind == "unified" or r.slot == bank)]
        ways = [_copy(candidate, able[:count], bank, lrf, orf) for count in range(1, len(able) + 1)]
        offers += [best for best in sorted(ways, key=lambda way: -way.savings)[:1] if best.savings > 0]
    return offers


def _copy(candidate: Candidate, reads: Sequence[Read], bank: int, lrf: LevelCost, orf: LevelCost) -> LrfCopy:
    saved = sum(orf.read[read.datapath] - lrf.read[read.datapath] for read in reads)
    spent = sum(lrf.write[write.datapath] for write in candidate.writes)
    return LrfCopy(replace(candidate, reads=tuple(reads)), bank, saved - spent)
