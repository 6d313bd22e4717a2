"""Access counts of a replay: warp-registers by level, action and datapath; independent of the technology."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.counting.added_code import added_by_block
from warpreg.designs.interface.hardware import Table
from warpreg.designs.interface.plan import PRIVATE, READ, SHARED, WRITE
from warpreg.designs.interface.program import Program, lengths
from warpreg.energy.counts import Access, Action, Datapath, Move, Structure
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel

ACTIONS: tuple[tuple[int, Action], ...] = ((READ, "read"), (WRITE, "write"))
DATAPATHS: tuple[tuple[int, Datapath], ...] = ((PRIVATE, "private"), (SHARED, "shared"))
READS_PLANNED_BY = frozenset({"plan_reads"})
WRITES_PLANNED_BY = frozenset({"plan_write", "produced"})
"""Hooks that take the sources, or the results, of all instructions over from the register file."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of one design over one path."""

    design: str
    parameters: Mapping[str, Any]
    structures: tuple[Structure, ...]
    accesses: NDArray[np.int64]
    """int64[levels, action, datapath]: operands and results."""
    moves: NDArray[np.int64]
    """int64[levels, levels]: transfers between levels (such as evictions), which are not in ``accesses``."""
    events: Mapping[str, int]
    """The design's own counters and those of its tables."""
    warp_instructions: int
    spared: NDArray[np.int64] | None = None
    """Of the shape of ``accesses``: slices of banks that these accesses left out; None if all are whole."""
    slices: int = 1
    """How many make a warp-register."""
    added_instructions: Mapping[str, int] = field(default_factory=dict)
    """By kernel, how many the design has added to its code."""
    added_warp_instructions: int = 0
    """How many of ``warp_instructions`` are those.  A paper that counts only the instructions of the kernel leaves them
    out.
    """
    main: tuple[str, ...] = ("MRF",)
    """The levels that together are the main register file."""

    @property
    def amounts(self) -> NDArray[np.float64]:
        """float64, of the shape of ``accesses``: how much they accessed, in whole warp-registers."""
        spared = np.zeros_like(self.accesses) if self.spared is None else self.spared
        return np.asarray(self.accesses - spared / self.slices, np.float64)

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels, MRF first."""
        return tuple(structure.level for structure in self.structures)

    def reads(self, level: str | None = None, *, moves: bool = False) -> int:
        """Operand reads of a level (default: all); with ``moves`` also the reads of moves from it."""
        return self._total(level, READ, self.moves.sum(axis=1) if moves else None)

    def writes(self, level: str | None = None, *, moves: bool = False) -> int:
        """Result writes of a level (default: all); with ``moves`` also the writes of moves to it."""
        return self._total(level, WRITE, self.moves.sum(axis=0) if moves else None)

    def amount(self, level: str | None = None) -> float:
        """How much was read and written of a level (or all), moves included, in whole warp-registers."""
        where = slice(None) if level is None else self._index(level)
        moved = self.moves[where].sum() + self.moves[:, where].sum()
        return float(self.amounts[where].sum() + moved)

    def moved(self, source: str, target: str) -> int:
        """Warp-registers that moved from ``source`` to ``target``."""
        return int(self.moves[self._index(source), self._index(target)])

    @property
    def mrf_accesses(self) -> int:
        """Reads and writes of the main register file, moves included."""
        return sum(self.reads(one, moves=True) + self.writes(one, moves=True) for one in self.main)

    def elided(self, baseline: Counts) -> float:
        """Net share of the baseline's MRF accesses that this design avoids; 0 if the baseline has none."""
        return 1 - self.mrf_accesses / baseline.mrf_accesses if baseline.mrf_accesses else 0.0

    def energy_list(self) -> tuple[Access | Move, ...]:
        """The counts as input of :func:`warpreg.energy.account`; zero counts are omitted."""
        accesses = (
            Access(structure, action, datapath, int(self.accesses[level, a, d]), float(self.amounts[level, a, d]))
            for level, structure in enumerate(self.structures)
            for a, action in ACTIONS
            for d, datapath in DATAPATHS
            if self.accesses[level, a, d]
        )
        moves = (
            Move(self.structures[source], self.structures[target], int(self.moves[source, target]))
            for source, target in np.argwhere(self.moves)
        )
        return (*accesses, *moves)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON; ``accesses`` by ``level.action.datapath``, ``moves`` by ``from>to``."""
        items = self.energy_list()
        amounts = {
            f"{i.structure.level}.{i.action}.{i.datapath}": i.amount
            for i in items
            if isinstance(i, Access) and i.amount != i.count
        }
        return {
            "design": self.design,
            "parameters": dict(self.parameters),
            "warp_instructions": self.warp_instructions,
            "accesses": {
                f"{i.structure.level}.{i.action}.{i.datapath}": i.count for i in items if isinstance(i, Access)
            },
            **({"amounts": amounts} if amounts else {}),
            "moves": {f"{i.source.level}>{i.target.level}": i.count for i in items if isinstance(i, Move)},
            "events": dict(self.events),
            **(self._added() if self.added_instructions else {}),
        }

    def _added(self) -> dict[str, Any]:
        return {
            "added_instructions": dict(self.added_instructions),
            "added_warp_instructions": self.added_warp_instructions,
        }

    def _total(self, level: str | None, action: int, moves: NDArray[np.int64] | None) -> int:
        where = slice(None) if level is None else self._index(level)
        extra = 0 if moves is None else int(moves[where].sum())
        return int(self.accesses[where, action].sum()) + extra

    def _index(self, level: str) -> int:
        if level not in self.levels:
            raise UnknownNameError(f"level of {self.design}", level, self.levels)
        return self.levels.index(level)


def together(first: Counts, second: Counts) -> Counts:
    """Sum of the counts of two kernels, or two launches, under one design."""
    return dataclasses.replace(
        first,
        accesses=first.accesses + second.accesses,
        spared=None if first.spared is None or second.spared is None else first.spared + second.spared,
        moves=first.moves + second.moves,
        events={name: count + second.events[name] for name, count in first.events.items()},
        warp_instructions=first.warp_instructions + second.warp_instructions,
        added_instructions={**first.added_instructions, **second.added_instructions},
        added_warp_instructions=first.added_warp_instructions + second.added_warp_instructions,
    )


def added_code(recorded: Kernel, running: Kernel, visits: NDArray[np.int64]) -> tuple[dict[str, int], int]:
    """``added_instructions`` and ``added_warp_instructions`` of `Counts`.

    A design has made the kernel ``running``, whose blocks were visited so often, of the ``recorded`` one.
    """
    if running is recorded:
        return {}, 0
    more = added_by_block(recorded, running)
    return ({running.name: int(more.sum())} if more.any() else {}), int(visits @ more)


def table_events(tables: Mapping[int, Table], counted: NDArray[np.int64], columns: tuple[str, ...]) -> dict[str, int]:
    """What tables were asked, by name; ``tables`` by row of ``counted`` int64[rows, columns]."""
    events: dict[str, int] = {}
    for row, table in tables.items():
        for place, column in enumerate(columns):
            event = f"{table.name} {column}"
            events[event] = events.get(event, 0) + int(counted[row, place])
    return events


def add_unplanned(
    accesses: NDArray[np.int64], visits: NDArray[np.int64], program: Program, hooks: Collection[str]
) -> None:
    """Add the MRF accesses of operands that no hook plans, from the visits int64[blocks] of basic blocks.

    ``accesses`` int64[levels, 2, 2] are those of `Counts`; ``hooks`` are the names of the hooks that the design
    defines.
    """
    per_pc = np.repeat(visits, lengths(program.first_pc))
    for action, planning, starts in (
        (READ, READS_PLANNED_BY, program.source_start),
        (WRITE, WRITES_PLANNED_BY, program.result_start),
    ):
        if planning.isdisjoint(hooks):
            operands = per_pc * lengths(starts)
            shared = operands @ program.datapath
            accesses[0, action, SHARED] += shared
            accesses[0, action, PRIVATE] += operands.sum() - shared
