"""A recorded path for a kernel with code on edges (`warpreg.ir.edges`).

The old visits stay as they are, in their order.  Between them come those of the new blocks: when and with which lanes
the executor would have visited them.  Which way each lane went is the next block that it visited.

- A kernel that the executor ran is followed as its driver does (`warpreg.simt.kernel.warp_steps`): diverged lanes meet
  at the reconvergence points of the new kernel, and the lanes that fall through go first.
- The warps of a hardware trace meet where the hardware lets them.  A new block is visited directly before the visit in
  which its lanes go on, once, by all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from piecewise_numba.recipe import Recipe, compiled, read_only
from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.edges import old_block
from warpreg.ir.kernel import Block, Kernel
from warpreg.trace import edge_walk as walk
from warpreg.trace.chunked import TraceError
from warpreg.trace.path import RecordedPath

Words = NDArray[np.uint32]
NO_WORDS = read_only(np.zeros(0, np.uint32))
PIECE_WORDS = 1 << 17
"""Words of a path that are expanded at a time, approximately: whole thread blocks."""


class ExpandedPath:
    """The path of a run of ``recorded`` for the kernel ``running``, which has code on edges; widths and addresses are
    those of the run.
    """

    def __init__(self, path: RecordedPath, recorded: Kernel, running: Kernel, mode: Mode = "compiled") -> None:
        self._path, self._recorded, self._running, self._mode = path, recorded, running, mode

    @property
    def name(self) -> str:
        """Name of the run in messages."""
        return str(getattr(self._path, "name", "the run"))

    @property
    def header(self) -> dict[str, Any]:
        """As recorded."""
        header: dict[str, Any] = getattr(self._path, "header", {})
        return header

    def path_chunks(self) -> Iterator[Words]:
        """The expanded path.  Raises TraceError for a path of another kernel."""
        return expanded_words(self._path.path_chunks(), self._recorded, self._running, self._mode, self.name)

    def width_chunks(self) -> Iterable[NDArray[np.uint8]]:
        """As recorded."""
        chunks: Iterable[NDArray[np.uint8]] = getattr(self._path, "width_chunks", tuple)()
        return chunks

    def address_chunks(self) -> Iterable[Words]:
        """As recorded."""
        chunks: Iterable[Words] = getattr(self._path, "address_chunks", tuple)()
        return chunks


def expanded_path(path: RecordedPath, recorded: Kernel, running: Kernel, mode: Mode = "compiled") -> RecordedPath:
    """The path of ``recorded`` for the kernel that a design has made of it; itself without new blocks."""
    if len(running.blocks) == len(recorded.blocks):
        return path
    return ExpandedPath(path, recorded, running, mode)


def expanded_words(
    chunks: Iterable[Words], recorded: Kernel, running: Kernel, mode: Mode = "compiled", name: str = "the run"
) -> Iterator[Words]:
    """The words of a path in chunks of whole thread blocks, with the visits of the new blocks."""
    tables = _tables(running, len(recorded.blocks))
    for words in _thread_blocks(chunks, mode):
        yield _expanded(words, tables, mode, name)


def _thread_blocks(chunks: Iterable[Words], mode: Mode) -> Iterator[Words]:
    """Whole thread blocks of a path, many at a time."""
    find = walk.last_head if mode == "interpreted" else compiled(walk.last_head, (NO_WORDS,))
    gathered: list[Words] = []
    for chunk in chunks:
        if sum(one.size for one in gathered) >= PIECE_WORDS:
            last = find(read_only(chunk))
            if last != walk.NONE:
                yield np.concatenate((*gathered, chunk[:last]))
                gathered = []
                chunk = chunk[last:]
        gathered.append(chunk)
    if gathered:
        yield np.concatenate(gathered)


class _Tables(NamedTuple):
    flow: walk.Flow
    is_sass: bool


@cached_analysis
def _known(running: Kernel) -> dict[int, _Tables]:
    """Tables of a kernel by the number of its old blocks."""
    return {}


def _tables(running: Kernel, old: int) -> _Tables:
    known = _known(running)
    if old not in known:
        known[old] = _Tables(_flow(running, old), _is_sass(running))
    return known[old]


def _is_sass(kernel: Kernel) -> bool:
    return any(i.opcode[:1].isupper() for block in kernel.blocks if not block.is_edge for i in block.instructions)


def _flow(kernel: Kernel, old: int) -> walk.Flow:
    ends = [_end(block) for block in kernel.blocks]
    ways = [_ways(kernel, block, old) for block in kernel.blocks]
    columns = (
        [old],
        *zip(*ends, strict=True),
        reconvergence(kernel),
        [old_block(kernel, first, old) for _, first, _ in ends],
        np.concatenate(([0], np.cumsum([len(one) for one in ways]))),
        [to for one in ways for to in one],
        [way for one in ways for way in one.values()],
    )
    return walk.Flow(*(np.array(column, np.int64) for column in columns))


def _ways(kernel: Kernel, block: Block, old: int) -> dict[int, int]:
    """The ways of an old block through new ones, by the old block to which they lead."""
    return {old_block(kernel, way, old): way for way in block.successors if way >= old and block.index < old}


def _end(block: Block) -> tuple[int, int, int]:
    """How a block ends, the target of its branch, and the block that follows otherwise."""
    if not block.successors:
        return walk.EXIT, walk.NONE, walk.NONE
    first, fall, last = block.successors[0], block.successors[-1], block.terminator
    if last is not None and last.traits.is_direct and last.guard is not None:
        return walk.BRANCH, first, fall
    if last is not None and last.traits.is_indirect:
        return walk.INDIRECT, walk.NONE, walk.NONE
    if last is not None and last.traits.is_exit:
        return walk.GUARDED_EXIT, walk.NONE, fall
    return walk.GOTO, first, fall


def _expanded(words: Words, tables: _Tables, mode: Mode, name: str) -> Words:
    visits, warps, progress = walk.new_visits(words.size), walk.new_warps(), np.zeros(walk.PROGRESS, np.int64)
    room = 2 * words.size + walk.least_room(tables.flow)
    replaced = {walk.by_driver: walk.by_hardware} if tables.is_sass else {}
    while True:
        out = np.zeros(room, np.uint32)
        progress[:] = 0
        arguments = words, tables.flow, visits, warps, progress, out
        status = Recipe(walk.expand, replaced, mode=mode).build(arguments)(*arguments)
        if status != walk.FULL:
            break
        room *= 2
    if status == walk.WRONG:
        raise TraceError(f"{name}: the path is not of this kernel (visit {progress[walk.AT]} of a piece)")
    return out[: progress[walk.WRITTEN]]
