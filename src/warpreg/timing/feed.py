"""Splits a recorded run by warp, thread block by thread block, into what the core reads (docs/timing.md).

Reading streams: it holds one chunk of the path, one of the addresses, the thread block under way and one batch of
finished ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.stack import STACK_BASE
from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Special
from warpreg.replay.functions import compiled
from warpreg.simt.launch import STACK_BYTES
from warpreg.timing import split as loop
from warpreg.timing.coalesce import SCRATCH_WORDS, WORD_BYTES
from warpreg.timing.errors import TimingError
from warpreg.timing.sites import memory_sites
from warpreg.trace.lanes import MAX_WARPS
from warpreg.trace.path import PathWord

BATCH_WORDS = 1 << 17
"""Room for records and for visits of a batch of thread blocks; one that is larger gets a batch of its own."""

BATCH_BLOCKS = 256
LOG_WORDS = 1 << 14
LOG_TURNS = 1 << 10

Chunk = NDArray[np.uint32]


class RecordedRun(Protocol):
    """A recorded trace, or a stand-in."""

    @property
    def header(self) -> dict[str, Any]:
        """``block``: the dimensions of a thread block."""

    def path_chunks(self) -> Iterable[Chunk]:
        """Chunks of path words; a record never spans two."""

    def address_chunks(self) -> Iterable[Chunk]:
        """Chunks of address words; a record never spans two."""


@dataclass(frozen=True)
class ThreadBlocks:
    """Consecutive thread blocks, ``first`` and on, each of ``warps`` warps.

    Warp ``w`` of thread block ``first + b`` is row ``b * warps + w``: ``visits[visit_start[row]:visit_start[row + 1]]``
    (int64, ``block << 32 | mask``) and ``accesses[access_start[row]:access_start[row + 1]]`` (int64, the records of
    `warpreg.timing.access_record`) are what it did, in order.
    """

    first: int
    warps: int
    visits: NDArray[np.int64]
    visit_start: NDArray[np.int64]
    accesses: NDArray[np.int64]
    access_start: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many thread blocks."""
        return (self.visit_start.size - 1) // self.warps


def feed(
    run: RecordedRun, kernel: Kernel, *, banks: int = 32, bank_bytes: int = 4, frames: int = 4096
) -> Iterator[ThreadBlocks]:
    """The thread blocks of a run in order, in batches.

    Shared memory has ``banks`` (a power of two) of ``bank_bytes``, 4 or 8.  A thread block's local memory lies where
    that of the one ``frames`` before lay.  Raises TimingError for a path or addresses that are not of ``kernel``, and
    for a run whose addresses were not recorded.
    """
    return _Feed(run, kernel, banks, bank_bytes, frames).batches()


class _Feed:
    def __init__(self, run: RecordedRun, kernel: Kernel, banks: int, bank_bytes: int, frames: int) -> None:
        x, y, z = run.header["block"]
        self.kernel = kernel
        self.sites = memory_sites(kernel)
        self.warps = -(-x * y * z // 32)
        self.rules = loop.Rules(
            self.warps,
            banks,
            bank_bytes.bit_length() - 1,
            _frame_bytes(kernel),
            frames,
            SHARED_WINDOW,
            LOCAL_WINDOW,
            WINDOW_BYTES,
        )
        self.path_chunks, self.address_chunks = iter(run.path_chunks()), iter(run.address_chunks())
        self.path, self.addresses = _read_only([]), _read_only([])
        self.has_addresses, self.ended = False, False
        self.state = np.zeros(loop.STATE_WORDS, np.int64)
        self.masks = np.zeros(MAX_WARPS, np.int64)
        self.memory = np.zeros((3, max(1, self.sites.pc.size)), np.int64)
        words = (np.zeros(LOG_WORDS, np.int64), np.zeros(LOG_WORDS, np.int64))
        self.log = loop.Log(*words, np.zeros((LOG_TURNS, 3), np.int64))
        self.scratch = loop.Scratch(*(np.zeros(n, np.int64) for n in (32, SCRATCH_WORDS, 2 * MAX_WARPS)))
        self.batch = self._new_batch(BATCH_WORDS, BATCH_WORDS)
        self._split = compiled(loop.split, self._arguments())

    def batches(self) -> Iterator[ThreadBlocks]:
        """Run the loop until the path ends."""
        state = self.state
        while True:
            status = self._split(*self._arguments())
            if status == loop.NEED_PATH:
                if self.ended:
                    break
                self._next_path()
            elif status == loop.NEED_ADDRESSES:
                self._next_addresses()
            elif status == loop.LOG_FULL:
                self._grow_log()
            elif status == loop.BATCH_FULL:
                yield from self._taken()
            else:
                raise TimingError(self._refusal(status))
        yield from self._taken()
        if state[loop.ADDRESS_AT] < self.addresses.size or next(self.address_chunks, None) is not None:
            raise TimingError(f"kernel {self.kernel.name}: more addresses were recorded than the path has accesses")

    def _arguments(self) -> tuple[Any, ...]:
        streams = (self.path, self.addresses, self.state, self.masks, self.memory)
        return (*streams, self.sites, self.rules, self.log, self.batch, self.scratch)

    def _next_path(self) -> None:
        """The next chunk of the path; after the last one the word that begins a thread block, which ends the one
        before."""
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
        self.addresses, self.state[loop.ADDRESS_AT] = _read_only(chunk), 0

    def _grow_log(self) -> None:
        """Twice the room for the thread block under way."""
        self.log = loop.Log(*(np.concatenate((part, np.zeros_like(part))) for part in self.log))

    def _new_batch(self, visits: int, words: int) -> loop.Batch:
        starts = BATCH_BLOCKS * self.warps + 1
        return loop.Batch(*(np.zeros(size, np.int64) for size in (visits, starts, words, starts)))

    def _taken(self) -> Iterator[ThreadBlocks]:
        """What the batch holds; where that is nothing, the next batch is large enough for the thread block."""
        state = self.state
        blocks = int(state[loop.OUT_BLOCKS])
        if blocks == 0:
            self.batch = self._new_batch(*(max(BATCH_WORDS, int(state[n])) for n in (loop.VISITS, loop.RECORDS)))
            return
        batch, rows = self.batch, blocks * self.warps + 1
        visits, accesses = batch.visits[: state[loop.OUT_VISITS]], batch.accesses[: state[loop.OUT_ACCESSES]]
        starts = batch.visit_start[:rows], batch.access_start[:rows]
        first = int(state[loop.FIRST])
        state[[loop.OUT_VISITS, loop.OUT_ACCESSES, loop.OUT_BLOCKS]] = 0
        state[loop.FIRST] = state[loop.INDEX]
        yield ThreadBlocks(first, self.warps, visits.copy(), starts[0].copy(), accesses.copy(), starts[1].copy())

    def _refusal(self, status: int) -> str:
        at = int(self.state[loop.PATH_AT])
        where = f"kernel {self.kernel.name}: path word {at} of a chunk"
        if status == loop.CUT:
            return f"{where}: a record is cut off at the end of its chunk"
        word = int(self.path[at])
        if status == loop.BAD_BLOCK:
            return f"{where} visits block {word >> 2}, the kernel has {len(self.kernel.blocks)}"
        return f"{where} names warp {word >> 2}, a thread block has {self.warps}"


def _read_only(chunk: Any) -> Chunk:
    words = np.ascontiguousarray(chunk, np.uint32).view()
    words.flags.writeable = False
    return words


def _frame_bytes(kernel: Kernel) -> int:
    """Local memory of one warp, its stacks included."""
    has_stack = any(
        isinstance(o, Special) and o.name == STACK_BASE.name for i in kernel.instructions() for o in i.operands
    )
    bytes_ = kernel.local_bytes + (STACK_BYTES if has_stack else 0)
    return -(-bytes_ // WORD_BYTES) * WORD_BYTES * 32
