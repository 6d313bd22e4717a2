"""Everything that the file of a design imports.

A design is one file.  It declares ``DESIGN = Declaration(...)`` and, as far as it needs them: a frozen dataclass
``Parameters`` whose fields are made by ``parameter``; ``class State(NamedTuple)`` and ``init(parameters, program) ->
State``; ``compile(program, parameters) -> Program``, which fills hint columns; ``rewrite(kernel, parameters) ->
Kernel``, which inserts or renames; ``residency(parameters, program, machine) -> Residency``, what a warp takes of the
register file; ``structures(parameters)``, the storage behind each level; and functions under ``@hook``.  An operand
goes to level 0, the MRF, where the hook that could plan it is not defined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpreg.designs.errors import DesignError
from warpreg.designs.hooks import hook
from warpreg.designs.parameters import NoParameters, parameter
from warpreg.designs.plan import (
    GO,
    IRREGULAR,
    PRIVATE,
    READ,
    SHARED,
    UNSET,
    WRITE,
    Plan,
    count,
    extra,
    level,
    move,
    now,
    read,
    wake,
    write,
)
from warpreg.designs.program import Program, result_operands, source_operands
from warpreg.designs.residency import Launch, Residency, Room
from warpreg.designs.state import pair_of, per_pair, per_scheduler, per_sm, per_warp, scheduler_of, sm_of
from warpreg.energy.counts import Structure

Slot = Literal["mapping", "levels", "policy"]
Order = Literal["static", "warp", "scheduler", "sm"]
SLOTS: tuple[Slot, ...] = ("mapping", "levels", "policy")
ORDERS: tuple[Order, ...] = ("static", "warp", "scheduler", "sm")
MRF = 0
"""Level 0 of every design."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a design is.

    ``slot``: ``mapping`` (which physical register), ``levels`` (what stands before the MRF) or ``policy`` (who issues);
    a composition takes at most one of each.  ``order``: how far behaviour depends on other warps; ``static``: what an
    instruction does depends on the program table alone, so counts follow from block visits; ``warp`` lets replay take
    warps one by one.  ``levels`` starts with MRF.  ``events`` are the design's own counters, ``resources`` its own
    quantities that a timing run sums over cycles, by name.  ``source`` is a paper and section.
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


__all__ = [
    "GO", "IRREGULAR", "MRF", "PRIVATE", "READ", "SHARED", "UNSET", "WRITE", "Declaration", "Launch", "NoParameters",
    "Plan", "Program", "Residency", "Room", "Structure", "count", "extra", "hook", "level", "move", "now", "pair_of",
    "parameter", "per_pair", "per_scheduler", "per_sm", "per_warp", "read", "result_operands", "scheduler_of", "sm_of",
    "source_operands", "wake", "write",
]  # fmt: skip
