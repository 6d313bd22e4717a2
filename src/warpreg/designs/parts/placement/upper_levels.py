"""The upper levels of each greedy allocation, as input of the exact placement."""

from __future__ import annotations

from warpreg.designs.parts.placement.candidates import MRF
from warpreg.designs.parts.placement.hierarchy import LRF, ORF, Options
from warpreg.designs.parts.placement.scratchpad import ScratchpadOptions
from warpreg.designs.parts.placement.stays import UpperLevels


def hierarchy_levels(options: Options) -> UpperLevels:
    """The ORF, and the LRF if there is one."""
    return UpperLevels(
        level=ORF,
        entries=options.entries,
        cost=options.costs[ORF],
        mrf=options.costs[MRF],
        operands=options.operands,
        lrf=options.lrf,
        lrf_level=LRF,
        lrf_cost=options.costs[LRF] if options.lrf != "none" else None,
    )


def scratchpad_levels(options: ScratchpadOptions) -> UpperLevels:
    """The scratchpad."""
    return UpperLevels(
        level=options.level,
        entries=options.entries,
        cost=options.cost,
        mrf=options.backing,
        operands=options.operands,
        live_out=options.live_out,
        several_writes=options.several_writes,
    )
