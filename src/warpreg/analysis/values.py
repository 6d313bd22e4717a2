"""Values: def-use webs; definitions that reach a common read belong to one web.

Webs are built without reaching definitions: if a cell is live into a block, all definitions that arrive there reach a
common read, so they are one web.  Union-find along edges is near-linear in blocks times live cells.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.accesses import members
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.liveness import Liveness, liveness
from warpreg.analysis.subroutines import Subroutine, subroutines
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Value:
    """One web of one cell: ascending pcs that write it and that read it; a pc that reads it twice is listed twice.

    ``undefined``: some path reads it before any definition.
    """

    cell: int
    definitions: tuple[int, ...]
    reads: tuple[int, ...]
    undefined: bool


@dataclass(frozen=True, slots=True)
class Values:
    """All values of a kernel; ``written[pc]`` and ``read[pc]`` are value numbers in the order of `Accesses`."""

    values: tuple[Value, ...]
    written: tuple[tuple[int, ...], ...]
    read: tuple[tuple[int, ...], ...]


@cached_analysis
def values(kernel: Kernel) -> Values:
    """The values of a kernel, numbered by first definition or read in pc order."""
    return _values(kernel, ())


@cached_analysis
def values_by_call(kernel: Kernel) -> Values:
    """The same, but what a call of a subroutine leaves untouched does not reach the other calls of it."""
    return _values(kernel, subroutines(kernel))


def _values(kernel: Kernel, called: tuple[Subroutine, ...]) -> Values:
    live = liveness(kernel)
    webs = _Webs(live)
    ends = [webs.walk(block.index) for block in kernel.blocks]

    def join(block: int, successor: int, cells: int) -> None:
        for cell in members(live.live_in[successor] & cells):
            webs.join(webs.at_start(successor, cell), ends[block].get(cell) or webs.at_start(block, cell))

    entries = {(call, one.entry): one.accesses for one in called for call in one.calls}
    returns = {(block, call + 1): one.accesses for one in called for call in one.calls for block in one.returns}
    passed = entries | returns
    for block, successors in enumerate(control_flow(kernel).successors):
        for successor in successors:
            join(block, successor, passed.get((block, successor), -1))
    for one in called:
        for call in one.calls:
            join(call, call + 1, ~one.accesses)
    return webs.result()


class _Webs:
    """Union-find over nodes: one per written cell of an instruction, and one per (block, live-in cell)."""

    def __init__(self, live: Liveness) -> None:
        self.live = live
        self.table = live.accesses
        self.parent: list[int] = [0]
        self.starts: dict[tuple[int, int], int] = {}
        self.written: list[tuple[int, ...]] = []
        self.read: list[tuple[int, ...]] = []

    def node(self) -> int:
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def find(self, node: int) -> int:
        parent = self.parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, one: int, other: int) -> None:
        one, other = self.find(one), self.find(other)
        if one != other:
            self.parent[max(one, other)] = min(one, other)

    def at_start(self, block: int, cell: int) -> int:
        key = (block, cell)
        if key not in self.starts:
            self.starts[key] = self.node()
        return self.starts[key]

    def walk(self, block: int) -> dict[int, int]:
        """Assign nodes to a block's accesses; returns the node of each written cell at the block's end."""
        current: dict[int, int] = {}
        table = self.table
        pcs = table.block_pcs(block)
        merged = self.live.merged(block) if any(table.guards[pcs.start : pcs.stop]) else []
        for pc in pcs:
            self.read.append(tuple(current.get(c) or self.at_start(block, c) for c in table.read[pc]))
            nodes = tuple(self.node() for _ in table.written[pc])
            for cell, node in zip(table.written[pc], nodes, strict=True):
                if table.guards[pc] and cell in merged[pc - pcs.start]:
                    self.join(node, current.get(cell) or self.at_start(block, cell))
                current[cell] = node
            self.written.append(nodes)
        return current

    def result(self) -> Values:
        numbers: dict[int, int] = {}
        cells: list[int] = []
        definitions: list[list[int]] = []
        reads: list[list[int]] = []

        def number(node: int, cell: int) -> int:
            root = self.find(node)
            value = numbers.get(root)
            if value is None:
                value = numbers[root] = len(cells)
                cells.append(cell)
                definitions.append([])
                reads.append([])
            return value

        def numbered(nodes: tuple[int, ...], of: tuple[int, ...], pc: int, places: list[list[int]]) -> tuple[int, ...]:
            row = tuple(map(number, nodes, of))
            for value in row:
                places[value].append(pc)
            return row

        table = self.table
        read, written = [], []
        for pc in range(len(table.written)):
            read.append(numbered(self.read[pc], table.read[pc], pc, reads))
            written.append(numbered(self.written[pc], table.written[pc], pc, definitions))
        entry = {number(n, c) for (block, c), n in self.starts.items() if block == 0 and self.live.live_in[0] >> c & 1}
        found = tuple(Value(c, tuple(definitions[v]), tuple(reads[v]), v in entry) for v, c in enumerate(cells))
        return Values(found, tuple(written), tuple(read))
