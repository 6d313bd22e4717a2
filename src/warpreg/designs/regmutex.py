"""RegMutex: warps take turns with the registers that a kernel needs only at times (thesis of 2021, chapter 4).

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
- a cache that evicts a register of the extended set after its release writes a value that nothing reads;
- with ``bow-wr``, occupancy is that of RegMutex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import (
    GO,
    MRF,
    UNSET,
    Declaration,
    Launch,
    Logic,
    Plan,
    Program,
    Residency,
    Room,
    Table,
    count,
    hook,
    is_timed,
    parameter,
    per_sm,
    per_warp,
    read,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.interface.checked import Checked
from warpreg.designs.interface.residency import unshared
from warpreg.designs.sharing.check import checked_division
from warpreg.designs.sharing.choice import (
    Split,
    code_of,
    division_to_check,
    enabled_parameter,
    extended_parameter,
    gap_parameter,
    size_of,
    split_of,
    tie_parameter,
)
from warpreg.designs.sharing.columns import SharingHints, sharing_hints
from warpreg.designs.sharing.corruptions import SectionCorruption, corruptions_of
from warpreg.designs.sharing.explanation import explanation
from warpreg.designs.sharing.instructions import ACQUIRE, RELEASE
from warpreg.designs.sharing.pool import (
    NO_SECTION,
    TOKEN,
    end_access,
    give_back,
    leave_section,
    take_section,
)
from warpreg.designs.sharing.sizes import sections_of
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

EVENTS = ("acquires", "acquires at once", "releases", "refusals")
ACQUIRES, AT_ONCE, RELEASES, REFUSALS = range(4)
"""Acquires and releases that issued; acquires that found a section when they first asked; times that one found none."""
DESIGN = Declaration(
    slot="mapping",
    source="regmutex §4.3",
    order="sm",
    events=EVENTS,
    resources=("sections held",),
    uses=("bow-wr",),
)
N_W = 48


@dataclass(frozen=True)
class Parameters:
    """Size of the extended set, and options."""

    enabled: bool = enabled_parameter()
    extended: int = extended_parameter()
    tie: str = tie_parameter()
    gap: int = gap_parameter()
    split_mapping: bool = parameter(
        True, source="regmutex §4.3.2, Figure 4.6: the bank of a physical register; off: that of the machine's mapping"
    )


class State(NamedTuple):
    """The fields of `pool`, and these.  ``waited`` [warp]: 1 if its acquire has found no section.  ``base``,
    ``extended``, ``sections`` and ``offset`` of the pool; ``banks``, 0 for the machine's mapping; ``bow_wr``: unused.
    """

    taken: NDArray[np.uint8]
    held: NDArray[np.int64]
    section: NDArray[np.int64]
    flight: NDArray[np.int64]
    leaving: NDArray[np.uint8]
    waited: NDArray[np.uint8]
    base: int
    extended: int
    sections: int
    offset: int
    banks: int
    bow_wr: int


def residency(
    parameters: Parameters, program: Program, machine: Machine, launch: Launch, analysis: Analysis
) -> Residency:
    """The base set of each warp, and room for one section at least."""
    size = size_of(parameters, program, machine, launch, analysis)
    return unshared(machine, program.register_count) if size is None else size.room.residency


def rewrite(kernel: Kernel, parameters: Parameters, room: Room | None = None) -> Kernel:
    """The kernel with acquires, releases and moves."""
    return code_of(parameters, kernel, _split(kernel, parameters, room))


def _split(kernel: Kernel, parameters: Parameters, room: Room | None) -> Split | None:
    return split_of(parameters, kernel, room, room.residency.pool if room else 0)


def hints(program: Program, parameters: Parameters, analysis: Analysis, room: Room | None = None) -> SharingHints:
    """Where sections are acquired, used and released."""
    split = None if room is None and parameters.extended < 0 else _split(analysis.kernel, parameters, room)
    return sharing_hints(analysis.kernel, program, split.base if split else program.register_count)


def init(parameters: Parameters, program: Program, room: Room | None = None) -> State:
    """A pool of free sections; none in a replay, which has no time."""
    extended = room.residency.pool if room else 0
    base = room.residency.registers if room and extended else program.register_count
    sections = sections_of(room, extended) if room and extended else 0
    maps = room is not None and sections > 0 and parameters.split_mapping and not room.private_banks
    return State(
        taken=per_sm(np.zeros(max(1, sections), np.uint8)),
        held=per_sm(np.zeros(1, np.int64)),
        section=per_warp(np.int64(NO_SECTION)),
        flight=per_warp(np.int64(0)),
        leaving=per_warp(np.uint8(0)),
        waited=per_warp(np.uint8(0)),
        base=base,
        extended=extended,
        sections=sections,
        offset=room.warps * base if room else 0,
        banks=room.banks if room and maps else 0,
        bow_wr=0,
    )


def hardware(parameters: Parameters, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
    """Status bits of warps, bitmask of sections and lookup table (Figure 4.4)."""
    if not parameters.enabled or parameters.extended == 0:
        return ()
    warps = machine.sm.warps if machine else N_W
    ports = machine.schedulers.count if machine else 2
    return (
        Table("warp status", warps, 1, ports=ports, stages=0),
        Table("sections", warps, 1, ports=ports, stages=0),
        Table("section of warp", warps, (warps - 1).bit_length(), ports=ports, stages=0),
    )


def checked(program: Program, parameters: Parameters, kernel: Kernel) -> Checked:
    """Verifies the code by execution; sizes by rule: that with the largest extended set of the candidates."""
    return checked_division(kernel, division_to_check(parameters, kernel))


def corruptions(kernel: Kernel, parameters: Parameters, visits: NDArray[np.int64]) -> Sequence[SectionCorruption]:
    """Seeded errors in that code."""
    return corruptions_of(kernel, division_to_check(parameters, kernel), visits)


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, the registers that are needed, where a section is held."""
    return explanation(program, kernel)


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if program.hints.action[pc] != ACQUIRE:
        return GO
    if take_section(state, warp, plan):
        return GO
    state.waited[warp] = 1
    count(plan, REFUSALS)
    return TOKEN


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        read(plan, operand, MRF, bank=bank_of(state, program, warp, program.source[operand], plan))


@hook
def issued(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    action = program.hints.action[pc]
    if action == ACQUIRE:
        count(plan, ACQUIRES)
        count(plan, AT_ONCE, 1 - state.waited[warp])
        state.waited[warp] = 0
    elif action == RELEASE:
        count(plan, RELEASES)
        leave_section(state, warp, plan)
    elif is_timed(plan):
        state.flight[warp] += program.hints.reads[pc] + program.hints.writes[pc]


@hook
def collected(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if program.source[operand] >= state.base and is_timed(plan):
        end_access(state, warp, plan)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        write(plan, operand, MRF, bank=bank_of(state, program, warp, program.result[operand], plan))


@hook
def written_back(
    state: State,
    program: Program,
    warp: int,
    pc: int,
    next_pc: int,
    base: int,
    stride: int,
    mask: int,
    plan: Plan,
) -> None:
    if program.hints.writes[pc]:
        end_access(state, warp, plan)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.section[warp] != NO_SECTION:
        give_back(state, warp, plan)


@hook
def owner(state: State, program: Program, warp: int, token: int) -> int:
    first = warp - warp % program.slots
    for other in range(first, first + program.slots):
        if state.section[other] != NO_SECTION:
            return other
    return -1


def bank_of(state: State, program: Program, warp: int, register: int, plan: Plan) -> int:
    """The bank of a physical register; UNSET for that of the machine's mapping."""
    if state.banks == 0:
        return UNSET
    if register < state.base:
        return int((state.base * (warp % program.slots) + register) % state.banks)
    section = max(0, state.section[warp])
    return int((state.offset + state.extended * section + register - state.base) % state.banks)
