"""Cut a kernel into regions, and annotate what each one needs (RegLess, MICRO 2017).

A region is a sequence of instructions of one basic block.  All registers that it accesses are in the staging unit while
it runs.  A region is *valid* if

- the lines that it needs at a time fit the limit of each bank,
- nothing in it accesses the result of a long-latency instruction of its own,
- only its last instruction may wait for other warps.

From the start of a block on, a region takes as many instructions as are valid, or fewer if fewer values live across its
end: of the cuts that leave it at least ``shortest`` instructions, the one with the fewest live registers, and of equal
ones the last.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.sharing.instructions import waiting_points
from warpreg.ir.kernel import Kernel

WORD = 32
"""Registers of a word of a set."""


@dataclass(frozen=True)
class Limits:
    """``banks`` of a staging unit, the ``lines`` of a bank that a region may need, and the ``shortest`` region of a cut
    that is free to choose.
    """

    banks: int
    lines: int
    shortest: int


@dataclass(frozen=True)
class Region:
    """The instructions from ``first`` to ``end`` - 1.  ``inputs``: registers whose old value it needs; ``lines``: by
    class of registers (the register modulo the banks), the most that it needs at a time.
    """

    first: int
    end: int
    inputs: frozenset[int]
    lines: tuple[int, ...]


class Annotations(NamedTuple):
    """What the hardware reads, as hints."""

    first: NDArray[np.int32]
    """By pc: the first instruction of its region."""
    ends: NDArray[np.uint8]
    """By pc: GOES_ON; ENDS, the region ends there; STOPS, and the warp may wait for others."""
    inputs: NDArray[np.int64]
    """By pc, at the first one of a region: its preloads, as words of a set."""
    dropped: NDArray[np.int64]
    """By pc, at the first one of a block: registers that no lane needs any more, likewise."""
    lines: NDArray[np.int16]
    """By pc, at the first one of a region, and class of registers: lines that it needs."""
    erased: NDArray[np.uint8]
    """By source: the value is dead after this read."""
    released: NDArray[np.uint8]
    """By source: the region accesses the register no more, but it may be needed later."""
    unread: NDArray[np.uint8]
    """By result: nothing reads it."""
    returns: NDArray[np.uint8]
    """By pc: its results are written after issue."""


GOES_ON, ENDS, STOPS = range(3)


class Code:
    """A kernel as region creation sees it: by pc, sets of registers."""

    def __init__(self, program: Program, analysis: Analysis, partial: NDArray[np.uint8]) -> None:
        """``partial``: by result, whether a lane that is not written may need its old value."""
        self.reads = [set(row) for row in _rows(program.source, program.source_start)]
        self.writes = [set(row) for row in _rows(program.result, program.result_start)]
        self.needs_old = _marked(program.result, program.result_start, partial)
        dead = _marked(program.source, program.source_start, program.last_read)
        self.dies = [registers - self.writes[pc] for pc, registers in enumerate(dead)]
        self.long = program.long_latency != 0
        waits = waiting_points(analysis.kernel)
        self.stops = [pc in waits for pc in range(program.unit.size)]
        waiting = analysis.waiting[analysis.block_of]
        self.live = (analysis.live_before | waiting).sum(axis=1)


def cut(kernel: Kernel, code: Code, limits: Limits, most: int) -> list[Region]:
    """The regions of a kernel, in order of pc.  Raises DesignError for an instruction that needs more than the ``most``
    lines of a bank that there are.
    """
    first = kernel.first_pcs()
    regions: list[Region] = []
    for start, end in itertools.pairwise(first):
        begin = start
        while begin < end:
            found = _longest(code, begin, end, limits)
            if max(found.lines, default=0) > most:
                needed = f"{max(found.lines)} lines of a bank"
                raise DesignError(f"{kernel.name}: pc {begin} needs {needed}, and the staging unit has {most}")
            regions.append(found)
            begin = found.end
    return regions


def _longest(code: Code, begin: int, end: int, limits: Limits) -> Region:
    """The region that begins at an instruction."""
    valid = [region_of(code, begin, begin + 1, limits.banks)]
    while valid[-1].end < end and _may_go_on(code, begin, valid[-1].end):
        longer = region_of(code, begin, valid[-1].end + 1, limits.banks)
        if max(longer.lines) > limits.lines:
            break
        valid.append(longer)
    if valid[-1].end == end:
        return valid[-1]
    choices = valid[min(limits.shortest, len(valid)) - 1 :]
    return min(choices, key=lambda one: (code.live[one.end], -one.end))


def _may_go_on(code: Code, begin: int, pc: int) -> bool:
    """Whether a region that begins at ``begin`` and ends before ``pc`` may have that instruction too."""
    if code.stops[pc - 1]:
        return False
    accessed = code.reads[pc] | code.writes[pc]
    return all(not code.long[one] or accessed.isdisjoint(code.writes[one]) for one in range(begin, pc))


def region_of(code: Code, begin: int, end: int, banks: int) -> Region:
    """The region of these instructions."""
    inputs: set[int] = set()
    written: set[int] = set()
    last: dict[int, int] = {}
    for pc in range(begin, end):
        inputs |= (code.reads[pc] | code.needs_old[pc]) - written
        written |= code.writes[pc]
        last |= dict.fromkeys(code.reads[pc] | code.writes[pc], pc)
    most = np.zeros(banks, np.int64)
    for present in _present(code, begin, end, inputs, last):
        most = np.maximum(most, np.bincount([register % banks for register in present], minlength=banks))
    return Region(begin, end, frozenset(inputs), tuple(most.tolist()))


def _present(code: Code, begin: int, end: int, inputs: set[int], last: dict[int, int]) -> Iterator[list[int]]:
    """The registers with a line, at each instruction: from the start or the first write on, until the last read."""
    present = set(inputs)
    for pc in range(begin, end):
        present |= code.writes[pc]
        yield list(present)
        read_last = {register for register in code.reads[pc] if last[register] == pc} - code.writes[pc]
        present -= code.dies[pc] | read_last


def annotated(
    program: Program,
    code: Code,
    regions: list[Region],
    dying: NDArray[np.bool_],
    unread: NDArray[np.uint8],
    returns: NDArray[np.uint8],
    banks: int,
) -> Annotations:
    """The annotations of regions; ``dying`` bool[blocks, registers]: registers that die on the way to a block."""
    pcs, words = program.unit.size, max(1, -(-program.register_count // WORD))
    made = Annotations(
        first=np.zeros(pcs, np.int32),
        ends=np.zeros(pcs, np.uint8),
        inputs=np.zeros((pcs, words), np.int64),
        dropped=np.zeros((pcs, words), np.int64),
        lines=np.zeros((pcs, banks), np.int16),
        erased=np.zeros(program.source.size, np.uint8),
        released=np.zeros(program.source.size, np.uint8),
        unread=unread,
        returns=returns,
    )
    for region in regions:
        made.first[region.first : region.end] = region.first
        made.ends[region.end - 1] = STOPS if code.stops[region.end - 1] else ENDS
        made.inputs[region.first] = as_words(region.inputs, words)
        made.lines[region.first] = region.lines
        _mark_reads(program, code, region, made)
    for block, begin in enumerate(program.first_pc[:-1]):
        if begin < program.first_pc[block + 1]:
            made.dropped[begin] = as_words(np.flatnonzero(dying[block]).tolist(), words)
    return made


def _mark_reads(program: Program, code: Code, region: Region, made: Annotations) -> None:
    """Where the lines of a region become free, or may be taken."""
    later: set[int] = set()
    for pc in reversed(range(region.first, region.end)):
        for row in range(program.source_start[pc], program.source_start[pc + 1]):
            register = int(program.source[row])
            if register in code.dies[pc]:
                made.erased[row] = 1
            elif register not in later and register not in code.writes[pc]:
                made.released[row] = 1
        later |= code.reads[pc] | code.writes[pc]


def as_words(registers: Iterable[int], words: int) -> NDArray[np.int64]:
    """A set of registers as words of bits."""
    found = np.zeros(words, np.int64)
    for register in registers:
        found[register // WORD] |= 1 << register % WORD
    return found


def _marked(values: NDArray[np.uint16], starts: NDArray[np.int32], flags: NDArray[np.uint8]) -> list[set[int]]:
    """By pc, the registers of operands with a flag."""
    return [
        {register for register, flag in zip(row, marks, strict=True) if flag}
        for row, marks in zip(_rows(values, starts), _rows(flags, starts), strict=True)
    ]


def _rows(values: NDArray[np.generic], starts: NDArray[np.int32]) -> list[list[int]]:
    return [values[a:b].tolist() for a, b in itertools.pairwise(starts)]
