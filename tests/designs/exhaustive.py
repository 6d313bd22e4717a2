"""Minimum energy of the operands of straight-line code, by exhaustive search over all register contents.

It does not use values, reads or ranges: it steps through the instructions with the contents of each level above the
main register file, and the registers that each lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.lrf import BANKS

Held = tuple[int | None, ...]


@dataclass(frozen=True)
class Step:
    """An instruction of the private datapath: the registers of its source slots, and the one that it writes."""

    sources: tuple[int, ...]
    result: int


@dataclass(frozen=True)
class _State:
    """Registers in the ORF's entries and the LRF's banks, and those that the main register file lacks."""

    orf: Held
    lrf: Held
    lacking: frozenset[int]


@dataclass(frozen=True)
class Search:
    """``costs`` of MRF, ORF and LRF by level; ``entries`` of the ORF; ``lrf`` as the design orf-lrf names it."""

    costs: tuple[LevelCost, LevelCost, LevelCost]
    entries: int
    lrf: str = "none"

    def savings(self, code: list[Step]) -> float:
        """What the best way saves of what the main register file alone would spend."""
        mrf = self.costs[0]
        alone = sum(len(step.sources) * mrf.read[0] + mrf.write[0] for step in code)
        return alone - self.least(code)

    def least(self, code: list[Step]) -> float:
        states = {_State((None,) * self.entries, (None,) * BANKS[self.lrf], frozenset()): 0.0}
        for at, step in enumerate(code):
            following: dict[_State, float] = {}
            is_read = _is_read(code, at)
            for before, spent in states.items():
                for state in _forgetting(before):
                    for after_reads, read in self._reads(state, step):
                        for after, written in self._writes(after_reads, step.result, is_read):
                            total = spent + read + written
                            if total < following.get(after, float("inf")):
                                following[after] = total
            states = following
        return min(states.values())

    def _reads(self, state: _State, step: Step) -> Iterator[tuple[_State, float]]:
        """Every source from where it costs least, and every choice of registers to fetch.  A fetch takes no entry that
        is read in the same instruction.
        """
        spent = 0.0
        used: set[int] = set()
        missed: set[int] = set()
        for slot, register in enumerate(step.sources):
            bank = slot if self.lrf == "split" else 0
            if state.lrf and state.lrf[bank] == register:
                spent += self.costs[2].read[0]
            elif register in state.orf:
                spent += self.costs[1].read[0]
                used.add(state.orf.index(register))
            elif register in state.lacking:
                return
            else:
                spent += self.costs[0].read[0]
                missed.add(register)
        free = [entry for entry in range(self.entries) if entry not in used]
        for count in range(min(len(missed), len(free)) + 1):
            for fetched in itertools.combinations(sorted(missed), count):
                for entries in itertools.permutations(free, count):
                    orf = list(state.orf)
                    for register, entry in zip(fetched, entries, strict=True):
                        orf[entry] = register
                    yield _State(tuple(orf), state.lrf, state.lacking), spent + count * self.costs[1].write[0]

    def _writes(self, state: _State, register: int, is_read: bool) -> Iterator[tuple[_State, float]]:
        orf = tuple(None if held == register else held for held in state.orf)
        lrf = tuple(None if held == register else held for held in state.lrf)
        mrf = self.costs[0].write[0]
        for entry in range(-1, self.entries if is_read else 0):
            for bank in range(-1, len(lrf) if is_read else 0):
                spent = (self.costs[1].write[0] if entry >= 0 else 0) + (self.costs[2].write[0] if bank >= 0 else 0)
                above = tuple(register if i == entry else held for i, held in enumerate(orf))
                nearest = tuple(register if i == bank else held for i, held in enumerate(lrf))
                yield _State(above, nearest, state.lacking - {register}), spent + mrf
                if spent:
                    yield _State(above, nearest, state.lacking | {register}), spent


def _forgetting(state: _State) -> Iterator[_State]:
    """Every choice of entries to empty that hold what the main register file has too."""
    kept = [(held,) if held is None or held in state.lacking else (held, None) for held in state.orf]
    for orf in itertools.product(*kept):
        yield _State(orf, state.lrf, state.lacking)


def _is_read(code: list[Step], at: int) -> bool:
    """Whether the result is read before it is written again; a result that is not goes to the main register file."""
    for step in code[at + 1 :]:
        if code[at].result in step.sources:
            return True
        if code[at].result == step.result:
            return False
    return False
