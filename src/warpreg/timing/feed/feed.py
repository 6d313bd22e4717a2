"""Split a recorded run by warp, thread block by thread block, into the input of the core (docs/reference/timing.md).

Reading is streamed.  Memory holds one chunk of the path, one chunk of the addresses, and one batch of thread blocks
with the incomplete one after them; a batch that is large is in a file (`warpreg.trace.long_arrays`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.bare_arrays import bare, widths
from piecewise_numba.natives import Function
from piecewise_numba.recipe import Recipe
from warpreg.analysis.cached import cached_analysis
from warpreg.codegen.lower.stack import STACK_BASE
from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Special
from warpreg.simt.launch.launch import STACK_BYTES
from warpreg.timing.errors import TimingError
from warpreg.timing.feed import decode
from warpreg.timing.feed import split_warps as loop
from warpreg.timing.feed.coalescer import SCRATCH_WORDS, WORD_BYTES
from warpreg.timing.feed.memory_sites import Sites, memory_sites
from warpreg.trace import long_arrays
from warpreg.trace.path import PathWord

BATCH_WORDS = 1 << 18
"""Minimum capacity for records and for visits of a batch of thread blocks."""

BATCH_BLOCKS = 1024
TURNS = 1 << 10
ALL_BLOCKS = 1 << 62

Chunk = NDArray[np.uint32]


class RecordedRun(Protocol):
    """A recorded trace, or a substitute."""

    @property
    def header(self) -> dict[str, Any]:
        """``block``: the dimensions of a thread block."""

    def path_chunks(self) -> Iterable[Chunk]:
        """Chunks of path words; a record never spans two."""

    def address_chunks(self) -> Iterable[Chunk]:
        """Chunks of address words; a record never spans two."""


@dataclass(frozen=True)
class ThreadBlocks:
    """Consecutive thread blocks from index ``first`` on, each of ``warps`` warps.

    Warp ``w`` of thread block ``first + b`` is row ``b * warps + w``.  Its events in order are
    ``visits[visit_start[row]:visit_start[row + 1]]`` (int64, ``block << 32 | mask``) and
    ``accesses[access_start[row]:access_start[row + 1]]`` (int64, records of `warpreg.timing.core.access_record`).
    ``widths[width_start[row]:width_start[row + 1]]`` are the widths of its result rows, None if not requested.
    """

    first: int
    warps: int
    visits: NDArray[np.int64]
    visit_start: NDArray[np.int64]
    accesses: NDArray[np.int64]
    access_start: NDArray[np.int64]
    widths: NDArray[np.uint8] | None = None
    width_start: NDArray[np.int64] | None = None

    @property
    def count(self) -> int:
        """Number of thread blocks."""
        return (self.visit_start.size - 1) // self.warps


def feed(
    run: RecordedRun,
    kernel: Kernel,
    *,
    banks: int = 32,
    bank_bytes: int = 4,
    frames: int = 4096,
    end: int = ALL_BLOCKS,
    lanes: bool = False,
    pairs: bool = False,
) -> Iterator[ThreadBlocks]:
    """The thread blocks of a run in order, in batches, up to index ``end``, exclusive.

    Shared memory has ``banks`` (a power of two) of ``bank_bytes``, 4 or 8.  Thread blocks whose indices differ by
    ``frames`` use the same local memory.  ``lanes``: records have the addresses of lanes that are not affine.
    ``pairs``: parts of a warp that do not conflict in shared memory pass together.  Raises TimingError if the path or
    the addresses, as far as they are read, do not match ``kernel``, and if no addresses were recorded.
    """
    return _Feed(run, kernel, banks, bank_bytes, frames, end, lanes, pairs).batches()


class _Feed:
    def __init__(
        self,
        run: RecordedRun,
        kernel: Kernel,
        banks: int,
        bank_bytes: int,
        frames: int,
        end: int,
        lanes: bool,
        pairs: bool,
    ) -> None:
        x, y, z = run.header["block"]
        self.kernel = kernel
        self.warps = -(-x * y * z // 32)
        sites = memory_sites(kernel)
        self.first_site, self.sites = sites.first, _columns(sites)
        shift = bank_bytes.bit_length() - 1
        windows = (SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES)
        ends = end, len(kernel.blocks)
        local = _frame_bytes(kernel), frames, self.warps
        self.rules = np.array([banks, shift, *local, *windows, *ends, pairs], np.int64)
        self.path_chunks, self.address_chunks = iter(run.path_chunks()), iter(run.address_chunks())
        self.path, self.addresses = _read_only([]), _read_only([])
        self.has_addresses, self.ended = False, False
        self.state = np.zeros(loop.STATE_WORDS, np.int64)
        self.lanes, self.scratch = np.zeros(32, np.int64), np.zeros(SCRATCH_WORDS, np.int64)
        self.turns, self.masks = np.zeros((TURNS, 3), np.int64), np.zeros(self.warps, np.int64)
        self.cursors = np.zeros(2 * self.warps, np.int64)
        self.batch = self._new_batch(BATCH_WORDS)
        streams, batch = self._arguments()
        opened: dict[Function, Function] = {
            loop.opened_streams: bare(widths(streams)),
            loop.opened_batch: bare(widths(batch)),
        }
        if lanes:
            opened[decode.keeps_lanes] = decode.lanes_are_kept
        self._split = Recipe(loop.split, opened).build((streams, batch))

    def batches(self) -> Iterator[ThreadBlocks]:
        """Run the loop until the path ends."""
        while True:
            status = self._split(*self._arguments())
            if status == decode.ENOUGH:
                yield from self._taken()
                return
            if status == decode.NEED_PATH:
                if self.ended:
                    break
                self._next_path()
            elif status == decode.NEED_ADDRESSES:
                self._next_addresses()
            elif status == decode.TURNS_FULL:
                self.turns = np.concatenate((self.turns, np.zeros_like(self.turns)))
                self.batch = self.batch._replace(turns=self.turns)
            elif status == decode.BATCH_FULL:
                yield from self._taken()
            else:
                raise TimingError(self._refusal(status))
        yield from self._taken()
        if self.state[decode.ADDRESS_AT] < self.addresses.size or next(self.address_chunks, None) is not None:
            raise TimingError(f"kernel {self.kernel.name}: more addresses were recorded than the path has accesses")

    def _arguments(self) -> tuple[loop.Streams, loop.Batch]:
        state, batch = self.state, self.batch
        state[[loop.PATH_WORDS, decode.ADDRESS_WORDS]] = self.path.size, self.addresses.size
        rooms = batch.visits.size, batch.turns.shape[0], batch.visit_start.size - 1, batch.accesses.size
        state[[loop.VISIT_ROOM, loop.TURN_ROOM, loop.WARP_ROOM, decode.ACCESS_ROOM]] = rooms
        reading = self.path, self.addresses, state, self.first_site, self.sites, self.rules
        return loop.Streams(*reading, self.lanes, self.scratch), batch

    def _next_path(self) -> None:
        """Read the next chunk of the path.  After the last one, append the word that begins a thread block: it ends the
        previous one.
        """
        chunk = next(self.path_chunks, None)
        self.ended = chunk is None
        self.path = _read_only([PathWord.THREAD_BLOCK, 0] if chunk is None else chunk)
        self.state[loop.PATH_AT] = 0

    def _next_addresses(self) -> None:
        chunk = next(self.address_chunks, None)
        if chunk is None:
            name = self.kernel.name
            if not self.has_addresses:
                raise TimingError(
                    f"kernel {name}: the run has no recorded addresses; timing needs a run recorded with addresses=True"
                )
            raise TimingError(f"kernel {name}: the recorded addresses end before the path does")
        self.has_addresses = True
        self.addresses, self.state[decode.ADDRESS_AT] = _read_only(chunk), 0

    def _new_batch(self, words: int) -> loop.Batch:
        starts = BATCH_BLOCKS * self.warps + 1
        visits, visit_start, accesses, access_start, aside = (
            long_arrays.empty(size, np.int64) for size in (words, starts, words, starts, words)
        )
        return loop.Batch(visits, visit_start, accesses, access_start, self.turns, self.masks, aside, self.cursors)

    def _taken(self) -> Iterator[ThreadBlocks]:
        """The complete thread blocks of the batch.  The incomplete one moves to the next batch, which has twice the
        capacity.
        """
        state, batch = self.state, self.batch
        blocks = int(state[loop.BLOCKS])
        begins = state[[loop.VISITS_DONE, loop.ACCESSES_DONE]].tolist()
        ends = state[[loop.VISITS, decode.ACCESSES]].tolist()
        lengths = [end - begin for begin, end in zip(begins, ends, strict=True)]
        self.batch = self._new_batch(max(BATCH_WORDS, 2 * (max(lengths) + decode.LONGEST_RECORD)))
        self.batch.visits[: lengths[0]] = batch.visits[begins[0] : ends[0]]
        self.batch.accesses[: lengths[1]] = batch.accesses[begins[1] : ends[1]]
        first = int(state[loop.FIRST])
        state[[loop.BLOCKS, loop.VISITS_DONE, loop.ACCESSES_DONE]] = 0
        state[[loop.VISITS, decode.ACCESSES]] = lengths
        state[loop.FIRST] = state[decode.INDEX]
        if blocks:
            rows = blocks * self.warps + 1
            visits, accesses = batch.visits[: begins[0]], batch.accesses[: begins[1]]
            yield ThreadBlocks(first, self.warps, visits, batch.visit_start[:rows], accesses, batch.access_start[:rows])

    def _refusal(self, status: int) -> str:
        at = int(self.state[loop.PATH_AT])
        where = f"kernel {self.kernel.name}: path word {at} of a chunk"
        if status == decode.CUT:
            return f"{where}: a record is cut off at the end of its chunk"
        word = int(self.path[at])
        if status == decode.BAD_BLOCK:
            return f"{where} visits block {word >> 2}, the kernel has {len(self.kernel.blocks)}"
        return f"{where} names warp {word >> 2}, a thread block has {self.warps}"


def _columns(sites: Sites) -> NDArray[np.int64]:
    """The sites in the form that `decode` reads: rows of static columns, then initial decoder state."""
    rows = np.zeros((max(1, sites.pc.size), decode.SITE_WORDS), np.int64)
    rows[: sites.pc.size, : decode.MASK] = np.stack(
        (sites.unit, sites.size, sites.guarded, sites.space, sites.repeat, sites.atomic), axis=1
    )
    return rows


def _read_only(chunk: Any) -> Chunk:
    words = np.ascontiguousarray(chunk, np.uint32).view()
    words.flags.writeable = False
    return words


@cached_analysis
def _frame_bytes(kernel: Kernel) -> int:
    """Bytes of local memory of one warp, its stacks included."""
    has_stack = any(
        isinstance(o, Special) and o.name == STACK_BASE.name for i in kernel.instructions() for o in i.operands
    )
    bytes_ = kernel.local_bytes + (STACK_BYTES if has_stack else 0)
    return -(-bytes_ // WORD_BYTES) * WORD_BYTES * 32
