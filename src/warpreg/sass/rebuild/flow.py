"""Control-flow columns by static instruction and basic block, filled and read by the walks over steps."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LANES = 32
NONE = -1


class Ends(enum.IntEnum):
    """Effect of an instruction on its warp's path; all but NOTHING end a basic block."""

    NOTHING = 0
    BRANCH = 1
    EXIT = 2
    SYNC = 3
    BARRIER = 4


class Program(NamedTuple):
    """Columns by static instruction."""

    pc: NDArray[np.int64]
    ends: NDArray[np.uint8]
    """An `Ends`."""
    before: NDArray[np.int32]
    """Its only neighbour before it in the steps of warps; -1: none."""
    after: NDArray[np.int32]
    """Its only neighbour after it; -1: none."""
    entry: NDArray[np.uint8]
    """A warp began there."""
    leads: NDArray[np.uint8]
    """A basic block must begin there."""
    stops: NDArray[np.uint8]
    """A basic block must end there."""
    guarded: NDArray[np.uint8]
    """Active lanes did not execute it."""
    held: NDArray[np.uint64]
    """Hash of the lanes that executed it."""
    failed: NDArray[np.uint64]
    """Hash of the lanes that did not."""
    executed: NDArray[np.int64]
    """Number of executions by warps."""


def empty_program(capacity: int) -> Program:
    """Initial columns for ``capacity`` static instructions."""
    none = np.full(capacity, -1, np.int32)
    flags = [np.zeros(capacity, np.uint8) for _ in range(5)]
    ends, entry, leads, stops, guarded = flags
    hashes = np.zeros(capacity, np.uint64)
    counts = np.zeros(capacity, np.int64)
    return Program(counts, ends, none, none.copy(), entry, leads, stops, guarded, hashes, hashes.copy(), counts.copy())


class Layout(NamedTuple):
    """By static instruction: its basic block (``home``), the block that begins with it (``block``, -1: none), whether
    it has an address record (``recorded``), the ``mask`` of its last record.  By basic block: number of ``visits``.
    """

    home: NDArray[np.int32]
    block: NDArray[np.int32]
    recorded: NDArray[np.uint8]
    mask: NDArray[np.int64]
    visits: NDArray[np.uint64]


class Edges(NamedTuple):
    """A hash set of edges ``from << 32 | to`` (-1: free slot) and its ``size``; ``last`` is the previous block of each
    lane of the warp, -1 for none.
    """

    keys: NDArray[np.int64]
    size: NDArray[np.int64]
    last: NDArray[np.int64]


def empty_edges(capacity: int) -> Edges:
    """A set for up to ``capacity`` / 2 edges; ``capacity`` is a power of two."""
    return Edges(np.full(capacity, NONE, np.int64), np.zeros(1, np.int64), np.full(LANES, NONE, np.int64))


def basic_blocks(program: Program, count: int) -> list[list[int]]:
    """The static instructions of each basic block.  Blocks in which warps begin come first; then by address of the
    first instruction.
    """
    leaders = [i for i in range(count) if _leads(program, i)]
    blocks = []
    for leader in sorted(leaders, key=lambda i: (not program.entry[i], program.pc[i], i)):
        block = [leader]
        while not _ends_block(program, block[-1]):
            following = int(program.after[block[-1]])
            if _leads(program, following):
                break
            block.append(following)
        blocks.append(block)
    return blocks


def _leads(program: Program, i: int) -> bool:
    before = int(program.before[i])
    return bool(program.entry[i] or program.leads[i] or before < 0 or _ends_block(program, before))


def _ends_block(program: Program, i: int) -> bool:
    return bool(program.stops[i] or program.ends[i] or program.after[i] < 0)
