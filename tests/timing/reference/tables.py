"""Tables in front of operand fetch: docs/reference/timing.md, "Tables in front of operand fetch"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from warpreg.designs.interface.hardware import Table


class Tables:
    """Those of one SM; ``served[name, bank]`` counts the accesses of each cycle."""

    def __init__(self, tables: Mapping[int, Table]) -> None:
        self._tables = tables
        self._served: defaultdict[tuple[str, int], Counter[int]] = defaultdict(Counter)

    def serve(self, table: int, index: int, now: int) -> int:
        """The cycle in which an access is served: the first one in which a port is left, behind all others."""
        kind = self._tables[table]
        served = self._served[kind.name, index % kind.banks]
        cycle = max([now, *served])
        if served[cycle] == kind.ports:
            cycle += 1
        served[cycle] += 1
        return cycle
