"""The greedy placement of a design per strand, with the upper levels that it can use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from warpreg.analysis.strands import Strand, StrandRules
from warpreg.designs import load
from warpreg.designs.parts.placement.allocate import Allocation
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.hierarchy import Options, allocate, candidates
from warpreg.designs.parts.placement.instances import KernelView
from warpreg.designs.parts.placement.scratchpad import ScratchpadOptions, select
from warpreg.designs.parts.placement.stays import UpperLevels
from warpreg.designs.parts.placement.upper_levels import hierarchy_levels, scratchpad_levels
from warpreg.evaluation.runs.row import Value

DESIGNS = ("orf-lrf", "rsp")
"""Designs whose compiler places values by a greedy algorithm."""
OTHER_WEIGHTS = (0.5, 0.0)
"""Alternative exponents of the slots in the order of candidates: square root, and ignored."""
Place = Callable[[KernelView, Strand], Sequence[Allocation]]


@dataclass(frozen=True)
class Algorithm:
    """``place`` is the greedy algorithm, ``others`` the same with candidates in other orders; ``costs`` by level."""

    rules: StrandRules
    upper: UpperLevels
    costs: Mapping[int, LevelCost]
    place: Place
    others: tuple[Place, ...] = ()


def algorithm(design: str, values: Mapping[str, Value]) -> Algorithm:
    """The algorithm of one of `DESIGNS` with some of its parameters.  Raises the errors of wrong parameters."""
    chosen = load(design, checked=False)
    options = cast(Any, chosen.module).options(chosen.configure(**values))
    if isinstance(options, Options):
        return _hierarchy(options)
    assert isinstance(options, ScratchpadOptions)
    return _scratchpad(options)


def _hierarchy(options: Options) -> Algorithm:
    def placing(options: Options) -> Place:
        return lambda view, strand: allocate(candidates(view, strand, options), options)[0].placed

    others = tuple(placing(replace(options, slots_weigh=weight)) for weight in OTHER_WEIGHTS)
    return Algorithm(options.rules, hierarchy_levels(options), dict(enumerate(options.costs)), placing(options), others)


def _scratchpad(options: ScratchpadOptions) -> Algorithm:
    def place(view: KernelView, strand: Strand) -> Sequence[Allocation]:
        return select(view, strand, options).placed

    return Algorithm(
        options.rules, scratchpad_levels(options), {0: options.backing, options.level: options.cost}, place
    )
