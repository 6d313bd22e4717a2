"""Warped-Compression: registers are stored as a base and small deltas, in fewer banks (Lee et al., ISCA 2015).

A warp-register of 128 bytes lies across eight banks of 16 bytes, a *cluster*; here a cluster is a bank of the machine,
and its banks are slices.  A result that all threads write is compressed by base-delta-immediate with a base of 4 bytes:
the first lane's word, and the differences of the other 31 lanes to it in 0, 1 or 2 bytes.  That takes the first 1, 3 or
5 banks of the cluster; any other value takes all eight.  A read or write accesses the banks that the value takes, and
no others.  A bank in which no register has data is gated; a write that needs it waits until it is on.

Compressors stand between the units and the banks, decompressors between the banks and the collectors.  A result passes
a compressor, whether it can be compressed or not; a source that is compressed passes a decompressor.

Results of diverged warps are stored as they are.  If the old value is compressed, a *dummy move* that hardware inserts
decompresses it first: it takes an issue slot, reads the register, and writes all eight banks.  A write under a guard
that leaves out threads counts as diverged.

Where the text is silent (the text was not at hand; abstract and title were):
- numbers and latencies of compressors and decompressors, and the time to switch on a bank, are parameters, assumed;
- a compressor accepts a result each cycle, and the first one that is free takes it; the words of a 64-bit result are
  two;
- a dummy move issues in the place of the write, which issues ``move`` cycles and a decompression later; a write of two
  compressed registers needs two dummy moves;
- lanes without a thread fit any value, so that writes to all threads of a smaller warp are compressed;
- a register takes banks from its first write until its warp ends; a warp that ends releases its banks;
- bits that say how a register is compressed, two for each, are read with the register and cost nothing but storage;
- a register that was never written is read whole.

Limits: sources that reach more than ``decompressors`` in a cycle are not delayed; ``late decompressions`` counts them.
Under a design of slot ``levels``, evictions write whole registers, while the register counts as compressed.  Without
cycles, a dummy move comes after the reads of its instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import (
    GO,
    MRF,
    READ,
    WRITE,
    Banks,
    Declaration,
    Logic,
    Plan,
    Program,
    Residency,
    Structure,
    Table,
    after,
    count,
    delta_bytes,
    extra,
    hook,
    is_partial,
    is_served,
    level,
    now,
    parameter,
    pattern,
    per_scheduler,
    per_sm,
    per_warp,
    postpone,
    read,
    result_operands,
    scheduler_of,
    sm_of,
    source_operands,
    write,
)
from warpreg.designs.interface.residency import unshared
from warpreg.gpu.machine import Machine

EVENTS = (
    "compressions", "decompressions", "late decompressions", "dummy moves", "bank wake-ups",
    "writes of 1 bank", "writes of 3 banks", "writes of 5 banks", "writes of 8 banks", "diverged writes",
)  # fmt: skip
(
    COMPRESSIONS, DECOMPRESSIONS, LATE_DECOMPRESSIONS, DUMMY_MOVES, WAKE_UPS,
    ONE_BANK, THREE_BANKS, FIVE_BANKS, EIGHT_BANKS, DIVERGED,
) = range(len(EVENTS))  # fmt: skip
POWERED = 0

DESIGN = Declaration(
    slot="mapping",
    source="Warped-Compression (ISCA 2015), abstract; BDI (PACT 2012) §4",
    order="sm",
    events=EVENTS,
    resources=("powered registers",),
    patterns=True,
)

WORD_BYTES, LANES = 4, 32
BANK_BYTES = 16
WHOLE = WORD_BYTES * LANES // BANK_BYTES
"""Banks of a cluster: those of an uncompressed register."""
INDICATOR_BITS = 2
TURN, TAKEN = range(2)


@dataclass(frozen=True)
class Parameters:
    """Size of the register file, and the times of what is added."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    registers: int = parameter(
        1024, unit="warp-registers", low=1, high=65536, machine="warp_registers",
        source="assumed: 128 KB an SM, as in GPUs of the time (GTX 480)",
    )  # fmt: skip
    clusters: int = parameter(
        16, unit="clusters", low=1, high=64, machine="register_file.banks",
        source="assumed: the banks of the machine, each of the width of a register",
    )  # fmt: skip
    compressors: int = parameter(
        2, unit="units", low=1, high=64, source="assumed: one for each result of two schedulers in a cycle"
    )
    decompressors: int = parameter(
        4, unit="units", low=1, high=64, source="assumed: two sources for each of two schedulers in a cycle"
    )
    compression: int = parameter(
        2, unit="cycles", low=0, high=64, source="assumed: a subtraction, and the choice of the smallest form"
    )
    decompression: int = parameter(1, unit="cycles", low=0, high=64, source="assumed: an addition")
    wake: int = parameter(
        10, unit="cycles", low=0, high=1024,
        source="assumed: above the couple of cycles of tfet §4.2 for drowsy registers, which keep part of their supply",
    )  # fmt: skip
    move: int = parameter(
        10, unit="cycles", low=1, high=1024,
        source="assumed: from the issue of a move to that of a reader of its result, on the machine gtx480",
    )  # fmt: skip


class State(NamedTuple):
    """Where data are, and what is busy."""

    enabled: bool
    clusters: int
    bank_registers: int  # warp-registers that a bank holds, times clusters * WHOLE
    compression: int
    decompression: int
    decompressors: int
    wake: int
    move: int
    banks: NDArray[np.int64]  # [warp, register] banks of its value; 0: it has none
    used: NDArray[np.int64]  # [SM, cluster, bank] registers that have data there
    ready: NDArray[np.int64]  # [SM, cluster, bank] the cycle from which on it is on
    powered: NDArray[np.int64]  # [SM, 0] banks that are on
    free: NDArray[np.int64]  # [SM, compressor] the cycle from which on it accepts a result
    read: NDArray[np.int64]  # [SM, TURN or TAKEN] a cycle, and the decompressions in it
    moving: NDArray[np.int64]  # [scheduler, 0] the last cycle whose issue slot a dummy move has taken


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file.  Raises DesignError for parameters that are not the machine's."""
    for name, value, expected, what in (
        ("registers", parameters.registers, machine.warp_registers, "warp-registers of an SM"),
        ("clusters", parameters.clusters, machine.register_file.banks, "banks"),
    ):
        if value != expected:
            raise DesignError(
                f"warped-compression: {name} expects {expected}, the {what} of {machine.name}, found {value}"
            )
    return unshared(machine, program.register_count)


def init(parameters: Parameters, program: Program) -> State:
    """An empty register file."""
    clusters = parameters.clusters
    return State(
        parameters.enabled,
        clusters,
        parameters.registers,
        parameters.compression,
        parameters.decompression,
        parameters.decompressors,
        parameters.wake,
        parameters.move,
        per_warp(np.zeros(program.register_count, np.int64)),
        per_sm(np.zeros((clusters, WHOLE), np.int64)),
        per_sm(np.zeros((clusters, WHOLE), np.int64)),
        per_sm(np.zeros(1, np.int64)),
        per_sm(np.zeros(parameters.compressors, np.int64)),
        per_sm(np.full(2, -1, np.int64)),
        per_scheduler(np.full(1, -1, np.int64)),
    )


def banks(parameters: Parameters) -> Banks | None:
    """Clusters of eight banks; an access reads or writes one register."""
    return Banks(slices=WHOLE, row_addresses=1, shares_port=True) if parameters.enabled else None


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file; banks without data are gated."""
    return (Structure("MRF", powered=DESIGN.resources[POWERED] if parameters.enabled else None),)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Compressors, decompressors, and what says how registers are compressed."""
    if not parameters.enabled:
        return ()
    return (
        Table("compression-ranges", parameters.registers, INDICATOR_BITS, banks=parameters.clusters, stages=0),
        Logic("compressor", EVENTS[COMPRESSIONS]),
        Logic("decompressor", EVENTS[DECOMPRESSIONS]),
    )


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    if not state.enabled:
        return GO
    scheduler = scheduler_of(program, warp)
    if state.moving[scheduler, 0] >= now(plan):
        return after(plan, int(state.moving[scheduler, 0] - now(plan) + 1))
    moves = 0
    late = 0
    for operand in result_operands(program, pc):
        register = program.result[operand]
        if is_partial(pattern(plan, operand)) and is_compressed(state, warp, register):
            late = max(late, decompress_in_place(state, program, warp, register, plan))
            moves += 1
    if moves == 0:
        return GO
    state.moving[scheduler, 0] = now(plan) + moves - 1
    return after(plan, moves - 1 + max(state.move + state.decompression, late))


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        register = program.source[operand]
        if not state.enabled:
            read(plan, operand, MRF)
        elif is_compressed(state, warp, register) and not is_served(plan, operand):
            count(plan, DECOMPRESSIONS)
            read(
                plan,
                operand,
                MRF,
                bank=cluster_of(state, program, warp, register),
                cycles=1 + state.decompression,
                slices=first_banks(state.banks[warp, register]),
            )
        else:
            read(plan, operand, MRF, bank=cluster_of(state, program, warp, register))


@hook
def collected(state: State, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if state.enabled and is_compressed(state, warp, program.source[operand]):
        turn = state.read[sm_of(program, warp)]
        if turn[TURN] != now(plan):
            turn[TURN] = now(plan)
            turn[TAKEN] = 0
        turn[TAKEN] += 1
        if turn[TAKEN] > state.decompressors:
            count(plan, LATE_DECOMPRESSIONS)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        if not state.enabled:
            write(plan, operand, MRF)
            continue
        register = program.result[operand]
        found = pattern(plan, operand)
        late = 0
        if is_partial(found):
            count(plan, DIVERGED)
            if is_compressed(state, warp, register):
                decompress_in_place(state, program, warp, register, plan)
            needed = WHOLE
        else:
            late = compress(state, sm_of(program, warp), plan)
            needed = banks_for(delta_bytes(found))
        count(plan, event_of(needed))
        postpone(plan, occupy(state, program, warp, register, needed, late, plan))
        write(plan, operand, MRF, bank=cluster_of(state, program, warp, register), slices=first_banks(needed))


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.enabled:
        for register in range(program.register_count):
            occupy(state, program, warp, register, 0, 0, plan)


def banks_for(deltas: int) -> int:
    """Banks of a base of 4 bytes and 31 deltas of so many bytes; deltas of 4 bytes mean that it is not compressed."""
    if deltas == WORD_BYTES:
        return WHOLE
    return (WORD_BYTES + (LANES - 1) * deltas + BANK_BYTES - 1) // BANK_BYTES


def event_of(needed: int) -> int:
    """The event that counts writes of so many banks."""
    return ONE_BANK if needed == 1 else THREE_BANKS if needed == 3 else FIVE_BANKS if needed == 5 else EIGHT_BANKS


def first_banks(number: int) -> int:
    """The slices of the first banks of a cluster."""
    return (1 << number) - 1


def cluster_of(state: State, program: Program, warp: int, register: int) -> int:
    """Registers of a warp go round the clusters, from another one on for each warp slot."""
    return int((register + warp % program.slots) % state.clusters)


def is_compressed(state: State, warp: int, register: int) -> bool:
    """Whether a register has a value in fewer than eight banks."""
    return bool(0 < state.banks[warp, register] < WHOLE)


def compress(state: State, sm: int, plan: Plan) -> int:
    """A result enters the first free compressor; the cycles until it leaves it."""
    count(plan, COMPRESSIONS)
    free = state.free[sm]
    chosen = 0
    for unit in range(1, free.size):
        if free[unit] < free[chosen]:
            chosen = unit
    start = max(now(plan), int(free[chosen]))
    free[chosen] = start + 1
    return start - now(plan) + state.compression


def decompress_in_place(state: State, program: Program, warp: int, register: int, plan: Plan) -> int:
    """A dummy move: read a compressed register and write it to all eight banks; the cycles until these are on."""
    cluster = cluster_of(state, program, warp, register)
    count(plan, DUMMY_MOVES)
    count(plan, DECOMPRESSIONS)
    extra(plan, MRF, READ, register, bank=cluster, slices=first_banks(state.banks[warp, register]))
    extra(plan, MRF, WRITE, register, bank=cluster)
    return occupy(state, program, warp, register, WHOLE, 0, plan)


def occupy(state: State, program: Program, warp: int, register: int, needed: int, late: int, plan: Plan) -> int:
    """From now on the value of a register takes the first ``needed`` banks, which are written ``late`` cycles on.

    Switches banks on and off.  Returns the cycles until all of them can be written.
    """
    sm, cluster = sm_of(program, warp), cluster_of(state, program, warp, register)
    used, ready = state.used[sm, cluster], state.ready[sm, cluster]
    held = state.banks[warp, register]
    before = state.powered[sm, 0]
    writable = now(plan) + late
    for bank in range(max(held, needed)):
        if bank >= held:
            if used[bank] == 0:
                count(plan, WAKE_UPS)
                state.powered[sm, 0] += 1
                ready[bank] = now(plan) + late + state.wake
            used[bank] += 1
        elif bank >= needed:
            used[bank] -= 1
            if used[bank] == 0:
                state.powered[sm, 0] -= 1
        if bank < needed:
            writable = max(writable, int(ready[bank]))
    state.banks[warp, register] = needed
    if state.powered[sm, 0] != before:
        level(plan, POWERED, state.powered[sm, 0] * state.bank_registers // (state.clusters * WHOLE))
    return int(writable - now(plan))
