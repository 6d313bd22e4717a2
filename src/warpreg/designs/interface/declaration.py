"""The declaration of a design: slot, order, levels, events, resources, source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpreg.designs.errors import DesignError

Slot = Literal["mapping", "levels", "policy"]
Order = Literal["static", "warp", "scheduler", "sm"]
SLOTS: tuple[Slot, ...] = ("mapping", "levels", "policy")
ORDERS: tuple[Order, ...] = ("static", "warp", "scheduler", "sm")
MRF = 0
"""Level 0 of every design."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The kind of a design, and the names it adds.

    ``slot``: ``mapping`` (which physical register), ``levels`` (storage above the MRF) or ``policy`` (which warp
    issues); a composition takes at most one of each.  ``order``: the scope on which behaviour depends.  ``static``: the
    program table alone, so counts follow from block visits; ``warp``: one warp, so replay can run warps one by one;
    ``scheduler``, ``sm``: other warps too.  ``levels`` starts with MRF.  ``events`` names the design's own counters,
    ``resources`` its own quantities that a timing run sums over cycles.  ``source`` is a paper and section.
    """

    slot: Slot
    source: str
    levels: tuple[str, ...] = ("MRF",)
    order: Order = "warp"
    events: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.slot not in SLOTS:
            raise DesignError(f"slot expects one of {', '.join(SLOTS)}, found {self.slot!r}")
        if self.order not in ORDERS:
            raise DesignError(f"order expects one of {', '.join(ORDERS)}, found {self.order!r}")
        if not self.levels or self.levels[MRF] != "MRF" or len(set(self.levels)) < len(self.levels):
            raise DesignError(f"levels expects distinct names that start with 'MRF', found {self.levels!r}")
        for word, found in (("events", self.events), ("resources", self.resources)):
            if len(set(found)) < len(found):
                raise DesignError(f"{word} expects distinct names, found {found!r}")
