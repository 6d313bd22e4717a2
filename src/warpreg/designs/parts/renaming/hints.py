"""The hints of the designs that rename: when registers die, and what each register is read with."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Program
from warpreg.designs.parts.affinity.alignment import ANY_SIDE
from warpreg.designs.parts.affinity.pairs import NO_BUDDY

WORD = 32
"""Registers of a word of ``released``."""


class RenamingHints(NamedTuple):
    """Where registers are dead, and what belongs together."""

    multiple: NDArray[np.uint8]
    """By pc: the instruction reads different registers."""
    first: NDArray[np.uint8]
    """By source: the instruction names the register for the first time."""
    entered: NDArray[np.int32]
    """By pc: 1 + the block that begins there, if registers die on the way to it, else 0."""
    released: NDArray[np.int64]
    """By block: the registers that die on the way to it, as bits of words."""
    dead: NDArray[np.uint8]
    """By result: nothing reads it."""
    guarded: NDArray[np.uint8]
    """By result: a guard may leave lanes out."""
    buddy: NDArray[np.int32]
    """By result: the other register of its pair, else NO_BUDDY."""
    side: NDArray[np.uint8]
    """By result: its alignment."""
    read_buddy: NDArray[np.int32]
    """``buddy`` by source."""
    read_side: NDArray[np.uint8]
    """``side`` by source."""


def renaming_hints(
    program: Program,
    analysis: Analysis,
    frees: bool,
    buddies: list[int] | None = None,
    sides: Mapping[int, int] | None = None,
) -> RenamingHints:
    """The hints of a kernel; ``frees``: registers are released when they are dead.  Both tables are by register."""
    results = [int(register) for register in program.result]
    dying = dying_at_entry(analysis) if frees else np.zeros((len(analysis.successors), 1), np.bool_)
    entered = np.zeros(program.unit.size, np.int32)
    for block in np.flatnonzero(dying.any(axis=1)):
        if program.first_pc[block] < program.first_pc[block + 1]:
            entered[program.first_pc[block]] = 1 + block
    sources = [program.source[a:b] for a, b in itertools.pairwise(program.source_start)]
    return RenamingHints(
        multiple=np.array([len(set(registers.tolist())) > 1 for registers in sources], np.uint8),
        first=np.array([one not in row[:at] for row in map(list, sources) for at, one in enumerate(row)], np.uint8),
        entered=entered,
        released=_words(dying),
        dead=dead_results(program, analysis) if frees else np.zeros(len(results), np.uint8),
        guarded=guarded_results(program, analysis),
        buddy=_buddies(results, buddies),
        side=_sides(results, sides),
        read_buddy=_buddies(program.source.tolist(), buddies),
        read_side=_sides(program.source.tolist(), sides),
    )


def _buddies(registers: list[int], buddies: list[int] | None) -> NDArray[np.int32]:
    return np.array([buddies[register] if buddies else NO_BUDDY for register in registers], np.int32)


def _sides(registers: list[int], sides: Mapping[int, int] | None) -> NDArray[np.uint8]:
    return np.array([(sides or {}).get(register, ANY_SIDE) for register in registers], np.uint8)


def guarded_results(program: Program, analysis: Analysis) -> NDArray[np.uint8]:
    """By result operand: whether its instruction has a guard."""
    guards = [one.guard is not None for one in analysis.kernel.instructions()]
    return np.repeat(np.array(guards, np.uint8), np.diff(program.result_start))


def dying_at_entry(analysis: Analysis) -> NDArray[np.bool_]:
    """The registers that no lane needs any more where a block begins, but some lane at the end of one before it.

    bool[blocks, registers].  These are registers that the other side of a branch reads, and those whose last read is in
    divergent code, where other lanes may still need them.
    """
    first = analysis.kernel.first_pcs()
    blocks = range(len(first) - 1)
    before, after = analysis.live_before, analysis.live_after
    begin = _flow(analysis, [before[first[b]] if first[b] < first[b + 1] else None for b in blocks])
    end = [after[first[b + 1] - 1] if first[b] < first[b + 1] else begin[b] for b in blocks]
    dying = np.zeros((len(first) - 1, before.shape[1]), np.bool_)
    for block in blocks:
        for earlier in _before(analysis, block, frozenset()):
            dying[block] |= end[earlier] | analysis.waiting[earlier]
        dying[block] &= ~(begin[block] | analysis.waiting[block])
    return dying


def dead_results(program: Program, analysis: Analysis) -> NDArray[np.uint8]:
    """By result operand: whether no lane reads it."""
    dead = np.zeros(program.result.size, np.uint8)
    for pc in range(program.unit.size):
        rows = slice(program.result_start[pc], program.result_start[pc + 1])
        registers = program.result[rows]
        needed = analysis.live_after[pc, registers] | analysis.waiting[analysis.block_of[pc], registers]
        dead[rows] = ~needed
    return dead


def _flow(analysis: Analysis, begin: list[NDArray[np.bool_] | None]) -> list[NDArray[np.bool_]]:
    """Liveness at the start of each block; an empty one has that of its successors."""
    nothing = np.zeros(analysis.live_before.shape[1], np.bool_)

    def of(block: int, seen: frozenset[int]) -> NDArray[np.bool_]:
        own = begin[block]
        if own is not None:
            return own
        following = [of(s, seen | {block}) for s in analysis.successors[block] if s not in seen]
        return np.logical_or.reduce(following) if following else nothing

    return [of(block, frozenset()) for block in range(len(begin))]


def _before(analysis: Analysis, block: int, seen: frozenset[int]) -> set[int]:
    """The blocks that a block follows, and those before empty ones among them, which release nothing."""
    blocks = set()
    for earlier in analysis.predecessors[block]:
        blocks.add(earlier)
        if not analysis.kernel.blocks[earlier].instructions and earlier not in seen:
            blocks |= _before(analysis, earlier, seen | {block})
    return blocks


def _words(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of flags as words of bits, at least one each."""
    words = max(1, -(-flags.shape[1] // WORD))
    padded = np.zeros((flags.shape[0], words * WORD), np.int64)
    padded[:, : flags.shape[1]] = flags
    values: NDArray[np.int64] = (padded.reshape(flags.shape[0], words, WORD) << np.arange(WORD)).sum(axis=2)
    return values
