"""The declaration of a design: slot, order, levels, events, resources, source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from keyword import iskeyword
from typing import Literal

from warpreg.designs.errors import DesignError

Slot = Literal["mapping", "levels", "operands", "policy"]
Order = Literal["static", "warp", "scheduler", "sm"]
SLOTS: tuple[Slot, ...] = ("mapping", "levels", "operands", "policy")
ORDERS: tuple[Order, ...] = ("static", "warp", "scheduler", "sm")
MRF = 0
"""Level 0 of every design."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The kind of a design, and the names it adds."""

    slot: Slot | tuple[Slot, ...]
    """``mapping`` (which physical register), ``levels`` (storage above the MRF), ``operands`` (storage at the ports of
    the banks, below all levels) or ``policy`` (which warp issues), or several of them.  A composition takes one
    design for a slot, or several of which each uses the one before.
    """
    source: str
    """A paper and section."""
    levels: tuple[str, ...] = ("MRF",)
    """Names of the levels, MRF first."""
    main: tuple[str, ...] = ("MRF",)
    """The levels that together are the main register file."""
    order: Order = "warp"
    """The scope on which behaviour depends.  ``static``: the program table alone, so counts follow from block visits;
    ``warp``: one warp, so replay can run warps one by one; ``scheduler``, ``sm``: other warps too.
    """
    events: tuple[str, ...] = ()
    """Names of the design's own counters."""
    resources: tuple[str, ...] = ()
    """Names of the design's own quantities that a timing run sums over cycles."""
    uses: tuple[str, ...] = ()
    """Designs whose state the hooks reach: ``state.packing`` for ``uses=("packing",)``, with ``_`` for ``-``; the state
    needs such a field.
    """
    below: tuple[str, ...] = ()
    """Designs of the same slot beside which this one may stand, without their state: it comes after them and places
    what they leave in the MRF.
    """
    profile: bool = False
    """``analysis.frequencies`` holds those of the recorded run, so the design cannot be evaluated without one."""
    widths: bool = False
    """Hooks ask for widths of values, which runs record then; they differ from visit to visit, so ``static`` is no
    order for them.
    """
    lanes: bool = False
    """Hooks ask for the addresses of lanes that are not affine."""
    technology: str = ""
    """The one that prices the design by default."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots that the design fills."""
        return self.slot if isinstance(self.slot, tuple) else (self.slot,)

    @property
    def main_mask(self) -> int:
        """The levels of the main register file, a bit each."""
        return sum(1 << self.levels.index(name) for name in self.main)

    def __post_init__(self) -> None:
        if not self.slots or not set(self.slots) <= set(SLOTS):
            raise DesignError(f"slot expects one of {', '.join(SLOTS)}, or several, found {self.slot!r}")
        if self.order not in ORDERS:
            raise DesignError(f"order expects one of {', '.join(ORDERS)}, found {self.order!r}")
        if not self.levels or self.levels[MRF] != "MRF" or len(set(self.levels)) < len(self.levels):
            raise DesignError(f"levels expects distinct names that start with 'MRF', found {self.levels!r}")
        if self.main[:1] != ("MRF",) or not set(self.main) <= set(self.levels) or len(set(self.main)) < len(self.main):
            raise DesignError(
                f"main expects distinct names of levels that start with 'MRF', found {self.main!r} of {self.levels!r}"
            )
        if self.widths and self.order == "static":
            raise DesignError("widths expects order 'warp' or more: widths differ from visit to visit of a block")
        words = {name: getattr(self, name) for name in ("slots", "events", "resources", "uses", "below")}
        for word, found in words.items():
            if len(set(found)) < len(found):
                raise DesignError(f"{word} expects distinct names, found {found!r}")


def field_of(name: str) -> str:
    """A design's name as the name of a field: ``my_mapping`` for ``my-mapping``."""
    text = re.sub(r"\W", "_", name)
    return text if text.isidentifier() and not text.startswith("_") and not iskeyword(text) else f"design_{text}"
