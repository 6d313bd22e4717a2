"""RegMutex in pairs, registers that two warps share in time: they take turns with one section (thesis of 2021, §4.3.3).

As ``regmutex``, with the same compiler and the same size of the extended set, but each pair of warps has 2 |Bs| + |Es|
registers: a base set each, and a section that one of them holds at a time.  Neither a pool nor a lookup table is
needed, only one bit for each pair: 24 bits for 48 warps.

Warps 2k and 2k + 1 of a thread block are a pair, whatever slots they have.  The last warp of a block with an odd number
of warps has a section of its own, and always finds it free.  The bit does not say which warp of a pair holds the
section.  It need not, because the compiler repeats no acquire and no release: only the holder reaches a release.

The size of the extended set is that of ``regmutex`` (Table 4.1 lists one for both); a kernel of which pairs do not make
more warps resident has none.

Where the text is silent: as in ``regmutex``.  Which warps are a pair, and what the odd one gets, is ours.

Limits: a machine needs an even number of warp slots.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import (
    Declaration,
    Launch,
    Logic,
    Plan,
    Program,
    Residency,
    Room,
    Table,
    hook,
    index_in_block,
    thread_block,
)
from warpreg.designs.interface.residency import room as room_of
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.sharing.choice import BY_RULE, Options, size_of
from warpreg.designs.parts.sharing.declared import checked, corruptions, explain, extended_of, hints, pairs_of, rewrite
from warpreg.designs.parts.sharing.hooks import (
    EVENTS,
    RESOURCES,
    admit,
    collected,
    issued,
    owner,
    plan_reads,
    produced,
    written_back,
)
from warpreg.designs.parts.sharing.hooks import warp_end as end_warp
from warpreg.designs.parts.sharing.pool import SLOTS, State, join_pair, leave_pair, pool_state
from warpreg.gpu.machine import Machine

__all__ = [
    "State", "admit", "checked", "collected", "corruptions", "explain", "hints", "issued", "owner", "plan_reads",
    "produced", "rewrite", "written_back",
]  # fmt: skip

DESIGN = Declaration(slot="mapping", source="regmutex §4.3.3", order="sm", events=EVENTS, resources=RESOURCES)


@dataclass(frozen=True)
class Parameters(Options):
    """Size of the extended set, and options."""


def residency(
    parameters: Parameters, program: Program, machine: Machine, launch: Launch, analysis: Analysis
) -> Residency:
    """The base set of each warp, and a section for each pair of a thread block.

    Raises DesignError for a machine with an odd number of warp slots.
    """
    plain = unshared(machine, program.register_count)
    size = size_of(parameters, program, machine, launch, analysis)
    if size is None:
        return plain
    if machine.sm.warps % 2:
        raise DesignError(
            f"kernel {analysis.kernel.name}: pairs of warps need an even number of warp slots, and {machine.name} has "
            f"{machine.sm.warps}"
        )
    warps = -(-launch.block_threads // machine.sm.threads_per_warp)
    found = Residency(size.base, shared=pairs_of(warps) * size.extended, group=warps)
    resident = [room_of(machine, one, launch, program.register_count).warps for one in (plain, found)]
    return found if resident[1] > resident[0] or parameters.extended != BY_RULE else plain


def init(parameters: Parameters, program: Program, room: Room | None = None) -> State:
    """A free section for each pair."""
    extended = extended_of(room)
    sections = room.blocks * pairs_of(room.residency.group) if room else 0
    return pool_state(room, program, extended, sections, parameters.split_mapping, paired=True)


def hardware(parameters: Parameters, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
    """A bit for each pair."""
    if not parameters.enabled or parameters.extended == 0:
        return ()
    return (Table("pair status", (machine.sm.warps if machine else SLOTS) // 2, 1, ports=2, stages=0),)


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.sections:
        join_pair(state, warp, started_partner(program, warp, plan.sm), plan.sm)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    end_warp(state, program, warp, plan)
    if state.sections:
        leave_pair(state, warp, plan.sm)


def started_partner(program: Program, warp: int, sm: int) -> int:
    """The even warp of an odd one's pair, which has started before it; -1 for an even warp."""
    index = index_in_block(program, warp)
    if index & 1:
        for other in range(sm * program.slots, (sm + 1) * program.slots):
            if (
                thread_block(program, other) == thread_block(program, warp)
                and index_in_block(program, other) == index - 1
            ):
                return other
    return -1
