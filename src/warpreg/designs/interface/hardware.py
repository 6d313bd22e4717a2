"""Hardware that a design adds beside its levels: tables in front of operand fetch, and logic.

A design file returns both from ``hardware(parameters, machine)``.  A technology prices them by name; its array model
prices tables that it does not name.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.designs.errors import DesignError
from warpreg.energy.counts import PER


@dataclass(frozen=True, slots=True)
class Table:
    """A table in front of operand fetch, one per SM: ``entries`` of ``bits`` bits, in equal ``banks``.

    ``lookup(plan, table, index)`` and ``update(plan, table, index)`` name a table by its position among the tables of
    the design and take one of the ``ports`` of bank ``index % banks`` in that cycle.  An instruction enters a collector
    ``stages`` cycles after its last lookup was served.  Counted as ``<name> lookups`` and ``<name> updates``.
    """

    name: str
    entries: int
    bits: int
    banks: int = 1
    ports: int = 1
    stages: int = 1

    def __post_init__(self) -> None:
        for field, least in (("entries", 1), ("bits", 1), ("banks", 1), ("ports", 1), ("stages", 0)):
            if (value := getattr(self, field)) < least:
                raise DesignError(f"table {self.name}: {field} expects at least {least}, found {value}")


@dataclass(frozen=True, slots=True)
class Logic:
    """Comparators, networks, control: priced for each ``event`` of that name, or for each cycle if it is None.

    ``event`` is one of the design's events or ``<table> lookups`` or ``<table> updates``.  ``per`` says how many there
    are: one for the ``chip``, each ``SM``, ``scheduler`` or ``warp`` slot; it does not matter to energy by event.
    ``optional``: a technology without it charges nothing, for example because it charges wires instead.
    """

    name: str
    event: str | None = None
    per: str = "SM"
    optional: bool = False

    def __post_init__(self) -> None:
        if self.per not in PER:
            raise DesignError(f"logic {self.name}: per expects one of {', '.join(PER)}, found {self.per!r}")
