"""Operand reuse cache of today's sub-core: sources that the compiler marks are kept for the next instruction.

Each scheduler has an entry of one warp-register for each bank and source position (Huerta et al., MICRO 2025, section
5.3).  The position is that in the encoding: the second source of ``FADD`` is in the third place.  A source of an
instruction of fixed latency looks up the entry of its bank and position.  It hits if the entry holds the same register
of the same warp, and then needs no port of the bank.  Afterwards the entry holds the source if its ``.reuse`` flag is
set; otherwise it holds nothing, hit or miss.  Results never enter, and nothing is written back.

It belongs to the operand fetch of the sub-core, so it works below a design of levels (``rfc+reuse``) and above a
mapping (``virtualization+reuse``).

Where the text is silent:
- a source that a level above serves goes to the lanes through the same place, so it empties the entry, and does not
  enter itself;
- code without control codes has no flags: a greedy pass sets one where the next read of that bank and position in the
  basic block names the same register (``bits``);
- a source behind the third one is not kept: the encoding has three flags in use;
- an overwritten register need not leave: the compiler does not mark it, and the greedy pass does not either.  A flag
  of the compiler does not stand where another design has inserted a write before the next read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.passes.reuse import BANKS
from warpreg.designs.interface import (
    MRF,
    WRITE,
    Analysis,
    ArraySpec,
    Declaration,
    Plan,
    Program,
    Structure,
    count,
    extra,
    hook,
    is_served,
    parameter,
    per_scheduler,
    read,
    scheduler_of,
    source_operands,
)
from warpreg.designs.parts.hints.reuse_bits import code_bits, encoded_places, greedy_bits, uses_cache

DESIGN = Declaration(
    slot="operands",
    levels=("MRF", "REUSE"),
    order="scheduler",
    events=("kept", "dropped"),
    source="modern §5.3: register file cache",
)
REUSE = 1
KEPT, DROPPED = 0, 1
NOTHING = -1
REGISTER_BITS = 9


@dataclass(frozen=True)
class Parameters:
    """The entries, and who sets the flags."""

    positions: int = parameter(
        3, unit="source positions", low=0, high=3, off=0, source="modern §5.3: an entry a bank with three; 0: MRF alone"
    )
    bits: str = parameter(
        "code",
        choices=("code", "greedy"),
        source="modern §5.3: set by the compiler; greedy: the pass, also in place of the compiler's flags",
    )


class Hints(NamedTuple):
    """By source operand: ``flag``, whether it is kept; ``place``, that in the encoding.  By pc: ``fixed``, whether the
    instruction uses the cache."""

    flag: NDArray[np.uint8]
    place: NDArray[np.uint8]
    fixed: NDArray[np.uint8]


class State(NamedTuple):
    """``positions`` of sources, and by scheduler the ``entry`` [bank and position]: warp and register, or NOTHING."""

    positions: int
    entry: NDArray[np.int64]


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> Hints:
    """The flags of the code or those of the greedy pass."""
    kernel = analysis.kernel
    is_marked = parameters.bits == "code" and kernel.has_control_codes
    flags = code_bits(program, kernel) if is_marked else greedy_bits(program, kernel)
    return Hints(flags, encoded_places(program, kernel), uses_cache(kernel))


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache for each scheduler."""
    return State(parameters.positions, per_scheduler(np.full(max(1, BANKS * parameters.positions), NOTHING, np.int64)))


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file, and the entries of a scheduler.

    A technology that lacks the level takes an array as of the register cache of rc-rsp: eight banks of 128 bits side by
    side, at the distance of an RFC from the lanes; all positions are read and written in a cycle.
    """
    entries, ports = BANKS * parameters.positions, max(1, parameters.positions)
    bank = ArraySpec("sram", words=max(1, entries), word_bits=128, read_ports=ports, write_ports=ports, banks=8)
    kept = Structure(
        "REUSE", entries=entries, warps=1, array=bank, private_mm=0.2, shared_mm=0.4, per="scheduler", yields=True
    )
    return Structure("MRF"), kept


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if program.hints.fixed[pc] == 0:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)
        return
    entry = state.entry[scheduler_of(program, warp)]
    for operand in source_operands(program, pc):
        position = program.hints.place[operand]
        if position >= state.positions:
            read(plan, operand, MRF)
            continue
        register = program.source[operand]
        place = (register & (BANKS - 1)) * state.positions + position
        name = warp << REGISTER_BITS | register
        if is_served(plan, operand):
            read(plan, operand, MRF)
            count(plan, DROPPED, entry[place] != NOTHING)
            entry[place] = NOTHING
            continue
        hits = entry[place] == name
        read(plan, operand, REUSE if hits else MRF)
        if program.hints.flag[operand] == 0:
            count(plan, DROPPED, entry[place] != NOTHING and not hits)
            entry[place] = NOTHING
        elif not hits:
            entry[place] = name
            extra(plan, REUSE, WRITE, register)
            count(plan, KEPT)
