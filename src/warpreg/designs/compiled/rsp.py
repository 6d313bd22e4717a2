"""Register scratchpad: the compiler maps registers to a small store of each active warp (CASES 2018).

Each scheduler has a store that its active warps divide evenly; every datapath reaches it.  A strand ends at backward
branches and their targets, at blocks that several strands lead into, and before an instruction that may be the first to
depend on a long-latency result.  In a strand, values get entries in the order of the energy that they save for each
slot that they occupy.  Ranges that do not fit are shortened from both ends, and what is cut off is tried again.  All
other values are in the MRF.

Where the paper is silent:
- an overwrite of a long-latency result waits like a read;
- a strand also ends at a barrier, a fence and a call of the host, where the warp may be descheduled
  (``flush_at_barriers``);
- writes that reach common reads are one range; other writes of a register are ranges of their own, which may use one
  entry in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg import energy
from warpreg.designs.caches import rc
from warpreg.designs.interface import MRF, Declaration, Program, Room, Structure, parameter
from warpreg.designs.parts.placement.costs import level_costs
from warpreg.designs.parts.placement.encode import encode, reasons
from warpreg.designs.parts.placement.encoded import EVENTS, plan_reads, plan_write
from warpreg.designs.parts.placement.hierarchy import Placement
from warpreg.designs.parts.placement.scratchpad import (
    ALLOCATORS,
    RULES,
    ScratchpadOptions,
    check_in_time,
    place_in_scratchpad,
)
from warpreg.ir.kernel import Kernel

__all__ = ["plan_reads", "plan_write"]

DESIGN = Declaration(
    slot="levels",
    source="rc-rsp §II, §III-B",
    levels=("MRF", "RSP"),
    order="static",
    events=EVENTS,
    technology="rc-rsp-28nm",
)
RSP = 1
ACTIVE_WARPS = 4
"""Warps that divide the store of a scheduler (Table I)."""


@dataclass(frozen=True)
class Parameters:
    """Storage of an active warp, and options of the compiler."""

    entries: int = parameter(
        6,
        unit="registers per active warp",
        low=0,
        high=16,
        off=0,
        source="rc-rsp §III-A4: 2 KB of an SM each, 12 KB in all",
    )
    allocator: str = parameter(
        "rc-rsp", choices=ALLOCATORS, source="rc-rsp §III-B, orf-lrf §4.2 and §4.3: whose choice among the candidates"
    )
    shortening: str = parameter(
        "full", choices=("full", "tail"), source="rc-rsp §III-B; tail: orf-lrf §4.3, whose allocator has no other"
    )
    several_writes: bool = parameter(True, source="rc-rsp §III-B; off: one write a range, as in orf-lrf")
    live_out: bool = parameter(True, source="rc-rsp §III-B; off: §IV-D, values that live in the scratchpad alone")
    operands: bool = parameter(True, source="rc-rsp §III-B: read allocations")
    strands: str = parameter("rc-rsp", choices=tuple(RULES), source="rc-rsp §III-B, orf-lrf §4.1: whose strands")
    flush_at_barriers: bool = parameter(
        True,
        source="assumed: rc-rsp §III-B lists no barriers, but a warp that waits at one frees its slot; off: in replays",
    )
    priced_entries: int = parameter(
        0, unit="registers per active warp", low=0, high=16, source="rc-rsp §IV-B1: energy as of so many; 0: its own"
    )
    technology: str = parameter("rc-rsp-28nm", source="rc-rsp §IV-A: what the compiler takes accesses to cost")


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level."""
    entries = parameters.priced_entries or parameters.entries
    return Structure("MRF"), rc.upper_storage("RSP", entries * ACTIVE_WARPS)


def placement(program: Program, parameters: Parameters, kernel: Kernel) -> Placement:
    """The compiler's placement of each value, with reasons."""
    return place_in_scratchpad(kernel, program, options(parameters))


def options(parameters: Parameters) -> ScratchpadOptions:
    """The parameters as compiler options.  Raises the errors of loading a technology."""
    costs = level_costs(energy.load(parameters.technology), structures(parameters))
    return ScratchpadOptions(
        cost=costs[RSP],
        backing=costs[MRF],
        rules=RULES[parameters.strands](barriers=parameters.flush_at_barriers),
        entries=parameters.entries,
        allocator=parameters.allocator,
        tail_only=parameters.shortening == "tail",
        several_writes=parameters.several_writes,
        live_out=parameters.live_out,
        operands=parameters.operands,
    )


def compile(program: Program, parameters: Parameters, kernel: Kernel, room: Room | None = None) -> Program:
    """Fill the hint columns.  Raises DesignError for a timed run of strands that go on at barriers."""
    check_in_time("rsp", room, flush_at_barriers=parameters.flush_at_barriers)
    return encode(program, kernel, placement(program, parameters, kernel))


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, why a strand begins, and the decisions about values that are written or filled there."""
    return reasons(placement(program, parameters, kernel), DESIGN.levels)
