"""The widths of values along a recorded path, brought to the kernel that runs.

A run records one byte for each result word that an instruction writes (`warpreg.simt.block.widths`), in the order of
execution.  Since then, a design may have inserted instructions, renamed registers or moved instructions inside blocks.
The reader returns one byte for each row of ``Program.result`` of every visited block of the kernel that runs: the
recorded width of the same instruction, UNKNOWN for an inserted one.  The byte may hold a pattern as well
(`warpreg.trace.patterns`), which a reader returns if asked to.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from piecewise_numba.recipe import compiled
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.trace import long_arrays
from warpreg.trace.chunked import TraceError
from warpreg.trace.path import PathWord, RecordedPath
from warpreg.trace.patterns import UNKNOWN_PATTERN, have_patterns, width_of, with_pattern

UNKNOWN = 4
"""Width of a value of which nothing is recorded, in bytes: the whole register."""
VISIT_MASK = int(PathWord.VISIT_MASK)

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]


class Places(NamedTuple):
    """Where the width of each result of a kernel is found.

    ``first`` int64[blocks + 1]: the first result row of each basic block; ``place`` int64[rows]: its byte among those
    of the visit, or minus the width that it always has; ``recorded`` int64[blocks]: bytes of a visit.
    """

    first: Longs
    place: Longs
    recorded: Longs


def is_recorded(instruction: Instruction) -> bool:
    """Whether a run records the widths of what an instruction writes.

    What the driver delivers later is not recorded: results of ``bar.red`` and of host services.
    """
    return not instruction.traits.stops


def words_written(instruction: Instruction) -> int:
    """Warp-registers that an instruction writes."""
    return sum(len(register.words) for register in instruction.defined)


def places(recorded: Kernel, running: Kernel, *, all_rows: bool = False) -> Places:
    """The places of ``running``, which a design has made of the kernel that was ``recorded``.

    An instruction is recognised by its opcode, modifiers, number of results and source location; several that are alike
    are taken in order, and further copies have the widths of the last one.  With ``all_rows`` the bytes are those of
    every row of ``recorded``, as a `WidthReader` returns them.
    """
    place: list[int] = []
    first, sizes = [0], []
    old = [block.instructions for block in recorded.blocks]
    on_edges: list[tuple[Instruction, ...]] = [()] * (len(running.blocks) - len(old))
    for before, block in zip((*old, *on_edges), running.blocks, strict=True):
        offsets: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        size = 0
        for instruction in before:
            words = words_written(instruction)
            if all_rows or is_recorded(instruction):
                offsets[_identity(instruction)].append(size)
                size += words
        for instruction in block.instructions:
            same, words = offsets[_identity(instruction)], words_written(instruction)
            place += range(same[0], same[0] + words) if same else [-UNKNOWN] * words
            if len(same) > 1:
                same.popleft()
        first.append(len(place))
        sizes.append(size)
    return Places(*(np.array(column, np.int64) for column in (first, place, sizes)))


def _identity(instruction: Instruction) -> Hashable:
    return instruction.opcode, instruction.modifiers, words_written(instruction), instruction.location


class WidthReader:
    """Reads the widths along a path; ``of`` takes the words of the path in their order.

    ``reader`` names in messages what needs them.  With ``patterns``, the bytes have patterns too, otherwise none has.
    """

    def __init__(
        self, path: RecordedPath, places: Places, reader: str, mode: Mode = "compiled", patterns: bool = False
    ) -> None:
        unknown = with_pattern(UNKNOWN, UNKNOWN_PATTERN) if patterns else UNKNOWN
        self.places = places._replace(place=np.where(places.place < 0, -unknown, places.place))
        self._patterns = patterns
        self._name = getattr(path, "name", "the run")
        self._reader = reader
        width_chunks: Any = getattr(path, "width_chunks", tuple)
        self._chunks: Iterator[Bytes] = iter(width_chunks())
        self._has_widths = False
        self._bytes = np.zeros(0, np.uint8)
        words, out = np.zeros(0, np.uint32), np.zeros(0, np.uint8)
        typical = words, places.first, places.recorded, np.zeros(2, np.int64)
        self._count = count if mode == "interpreted" else compiled(count, typical)
        typical_of_expand = words, *places, self._bytes, out
        self._expand = expand if mode == "interpreted" else compiled(expand, typical_of_expand)

    def of(self, words: NDArray[np.uint32]) -> Bytes:
        """The widths of the visits in whole records of the path, one byte per result row.

        Raises TraceError if widths are missing, or the path is not of the kernel.
        """
        words = long_arrays.joined([words])
        sizes = np.zeros(2, np.int64)
        if not self._count(words, self.places.first, self.places.recorded, sizes):
            raise TraceError(f"{self._name}: the path is not of this kernel")
        rows, needed = sizes.tolist()
        self._read(needed)
        out = long_arrays.zeros(rows, np.uint8)
        self._expand(words, *self.places, self._bytes, out)
        self._bytes = long_arrays.joined([self._bytes[needed:]])
        return out

    def _read(self, needed: int) -> None:
        pieces, size = [self._bytes], self._bytes.size
        while size < needed:
            chunk = next(self._chunks, None)
            if chunk is None and not self._has_widths:
                raise self._missing()
            if chunk is None:
                raise TraceError(f"{self._name}: the recorded widths end before the path does")
            self._has_widths = True
            if self._patterns and chunk.size and not have_patterns(chunk):
                raise self._missing()
            pieces.append(chunk if self._patterns else width_of(chunk))
            size += chunk.size
        self._bytes = long_arrays.joined(pieces)

    def _missing(self) -> TraceError:
        word = "patterns" if self._patterns else "widths"
        return TraceError(
            f"{self._reader}: needs the {word} of values, and {self._name} has none: run the kernel with "
            f"Record(path=True, {word}=True); hardware traces contain no values"
        )

    def finish(self) -> None:
        """The path has ended.  Raises TraceError if widths are left."""
        if self._bytes.size or any(chunk.size for chunk in self._chunks):
            raise TraceError(f"{self._name}: more widths were recorded than the path has results")


def count(path: NDArray[np.uint32], first: Longs, recorded: Longs, sizes: Longs) -> bool:
    """Result rows of the visits, and bytes recorded of them; whether all are visits of this kernel's blocks."""
    position = 0
    while position < path.size:
        word: Any = np.int64(path[position])
        kind = word & 3
        if kind <= VISIT_MASK:
            block = word >> 2
            if block >= recorded.size:
                return False
            sizes[0] += first[block + 1] - first[block]
            sizes[1] += recorded[block]
        position += 2 if kind & 1 else 1
    return position == path.size


def expand(path: NDArray[np.uint32], first: Longs, place: Longs, recorded: Longs, raw: Bytes, out: Bytes) -> None:
    """Fill ``out`` with the widths of all result rows of the visits."""
    position = at = to = 0
    while position < path.size:
        word: Any = np.int64(path[position])
        kind = word & 3
        if kind <= VISIT_MASK:
            block = word >> 2
            for row in range(first[block], first[block + 1]):
                out[to] = raw[at + place[row]] if place[row] >= 0 else -place[row]
                to += 1
            at += recorded[block]
        position += 2 if kind & 1 else 1
