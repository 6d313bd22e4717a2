"""RegMutex, registers that warps share in time: a kernel needs some of them only at times (thesis of 2021, chapter 4).

The compiler divides the registers of a kernel.  A warp always has its base set.  The extended set is a section of a
pool that all warps of an SM share: a warp acquires it before code with more live registers than the base set has, and
releases it after that.  Smaller base sets let more warps be resident.

*Compiler* (section 4.3.1).  Liveness counts lanes that wait on the other side of a branch.  Before a release, live
values in the extended set are moved to free registers of the base set, and keep these until the end of their live range
(`designs/sharing`).  ``extended`` gives the size of the extended set; by default it follows from the kernel, the
machine and the launch, see `designs/sharing/sizes.py`.  A kernel that gains no resident warps is left alone.

*Hardware* (section 4.3.2).  A bitmask of the sections, a bit for each warp that holds one, and a table with its number:
384 bits for 48 warps.  An acquire takes the lowest free section at issue, or the warp waits until one is released.
Register X of warp W is physical register |Bs| W + X, or from |Bs| on, offset + |Es| section + X - |Bs|; its bank is
that number modulo the banks, see ``split_mapping``.

No deadlock: the pool has a section at least, and no warp waits for another one while it holds a section
(`designs/sharing/states.py` states and proves the second rule, which the text lacks).

Where the text is silent:
- a section returns to the pool when it is released and no earlier access of it is under way;
- a warp that ends gives back its section;
- banks of one scheduler each (sub-cores) keep the machine's mapping, and the pool is that of the SM;
- a cache that evicts a register of the extended set after its release writes a value that nothing reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, Launch, Logic, Program, Residency, Room, Table
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.sharing.choice import Options, size_of
from warpreg.designs.parts.sharing.declared import checked, corruptions, explain, extended_of, hints, rewrite
from warpreg.designs.parts.sharing.hooks import (
    EVENTS,
    RESOURCES,
    admit,
    collected,
    issued,
    owner,
    plan_reads,
    produced,
    warp_end,
    written_back,
)
from warpreg.designs.parts.sharing.pool import SLOTS, State, pool_state
from warpreg.designs.parts.sharing.sizes import sections_of
from warpreg.gpu.machine import Machine

__all__ = [
    "State", "admit", "checked", "collected", "corruptions", "explain", "hints", "issued", "owner", "plan_reads",
    "produced", "rewrite", "warp_end", "written_back",
]  # fmt: skip

DESIGN = Declaration(slot="mapping", source="regmutex §4.3", order="sm", events=EVENTS, resources=RESOURCES)


@dataclass(frozen=True)
class Parameters(Options):
    """Size of the extended set, and options."""


def residency(
    parameters: Parameters, program: Program, machine: Machine, launch: Launch, analysis: Analysis
) -> Residency:
    """The base set of each warp, and room for one section at least."""
    size = size_of(parameters, program, machine, launch, analysis)
    return unshared(machine, program.register_count) if size is None else size.room.residency


def init(parameters: Parameters, program: Program, room: Room | None = None) -> State:
    """A pool of free sections."""
    extended = extended_of(room)
    sections = sections_of(room, extended) if room and extended else 0
    return pool_state(room, program, extended, sections, parameters.split_mapping)


def hardware(parameters: Parameters, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
    """Bitmask of sections, status bits of warps, and lookup table (Figure 4.4)."""
    if not parameters.enabled or parameters.extended == 0:
        return ()
    warps = machine.sm.warps if machine else SLOTS
    return tuple(
        Table(name, warps, bits, ports=2, stages=0)
        for name, bits in (("sections", 1), ("warp status", 1), ("section of warp", (warps - 1).bit_length()))
    )
