"""The recorded schedule of a timing run: the slot of each warp, when it was active, and when it issued.

A stream of 32-bit words, SM by SM in chunks.  The low three bits of a word are its kind, the next eight the warp slot
of the current SM, the rest an amount:

    ISSUE      the warp in the slot issues the next ``amount`` instructions of its path in sequence
    START      warp ``amount`` of a thread block enters the slot, pending; the next word is the thread block's index
    END        the warp in the slot has issued its last instruction and leaves the slot
    ACTIVATE   the warp enters its scheduler's active set
    SUSPEND    the warp leaves the active set
    ARRIVE     the results of its long-latency instruction at pc ``amount`` arrive
    SM         the following records are of SM ``word >> 3``

Records are in the order of the run: instructions in order of issue, the others between them when they happened.  This
order holds within a scheduler, or within an SM if ``order`` says so, but not between SMs.  A scheduler without an
active set records neither ACTIVATE nor SUSPEND.

The file is a container of :mod:`warpreg.trace.chunked` that identifies the run by the digests of its kernel and path.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, BinaryIO, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.ir.digest import kernel_digest
from warpreg.ir.kernel import Kernel
from warpreg.trace.chunked import ChunkFile, ChunkWriter, Stream, TraceError
from warpreg.trace.file import Trace
from warpreg.trace.path import RecordedPath, words_digest

MAGIC = b"WARPREG4"
STREAMS = (Stream.SCHEDULE,)
KIND_BITS, SLOT_BITS = 3, 8
SLOT_SHIFT, AMOUNT_SHIFT = KIND_BITS, KIND_BITS + SLOT_BITS
CHUNK_WORDS = 1 << 16
"""Minimum number of words of a chunk; a chunk ends with a whole record."""
MAX_SLOTS = 1 << SLOT_BITS
MAX_AMOUNT = (1 << (32 - AMOUNT_SHIFT)) - 1
"""The most instructions of one ISSUE record; a longer sequence needs several."""


RecordOrder = Literal["scheduler", "sm"]
"""The scope within which records are in the order of the run."""


class ScheduleWord(enum.IntEnum):
    """Low three bits of a word."""

    ISSUE = 0
    START = 1
    END = 2
    ACTIVATE = 3
    SUSPEND = 4
    SM = 5
    ARRIVE = 6


@dataclass(frozen=True, slots=True)
class Slots:
    """The warp slots of the machine.

    ``warps`` per SM, at most 256; slot ``s`` of an SM belongs to its scheduler ``s % schedulers``.  The index of a warp
    is ``sm * warps + slot``, of a scheduler ``sm * schedulers + slot % schedulers``.
    """

    sms: int
    warps: int
    schedulers: int

    def __post_init__(self) -> None:
        for name, most in (("sms", 1 << 20), ("warps", MAX_SLOTS), ("schedulers", self.warps)):
            if not 1 <= getattr(self, name) <= most:
                raise TraceError(f"schedule: {name} expects 1 to {most}, found {getattr(self, name)}")

    @property
    def total_warps(self) -> int:
        return self.sms * self.warps


@dataclass(frozen=True, slots=True)
class Record:
    """One record; ``amount`` are instructions (ISSUE) or the warp of ``thread_block`` (START)."""

    sm: int
    kind: ScheduleWord
    slot: int
    amount: int = 0
    thread_block: int = 0


def records(chunks: Iterable[NDArray[np.uint32]]) -> Iterator[Record]:
    """Decode a schedule; slow and simple, for tests and small runs."""
    sm = 0
    for chunk in chunks:
        words = iter(chunk.tolist())
        for word in words:
            kind = ScheduleWord(word & (1 << KIND_BITS) - 1)
            slot, amount = word >> SLOT_SHIFT & MAX_SLOTS - 1, word >> AMOUNT_SHIFT
            if kind == ScheduleWord.SM:
                sm = word >> SLOT_SHIFT
            else:
                yield Record(sm, kind, slot, amount, next(words) if kind == ScheduleWord.START else 0)


def path_digest(path: RecordedPath) -> str:
    """SHA-256 of the words of a path; that of a trace is cached."""
    return path.path_digest if isinstance(path, Trace) else words_digest(path.path_chunks())


@cached_analysis
def digest_of(kernel: Kernel) -> str:
    """The content hash of a kernel, computed once."""
    return kernel_digest([kernel])


class ScheduleWriter(ChunkWriter):
    """Writes the schedule of one run; without ``finish`` readers reject it as incomplete."""

    MAGIC: ClassVar[bytes] = MAGIC
    STREAMS: ClassVar[tuple[Stream, ...]] = STREAMS

    def __init__(
        self,
        file: BinaryIO,
        slots: Slots,
        kernel: Kernel,
        path: RecordedPath,
        order: RecordOrder = "sm",
        code: Kernel | None = None,
    ) -> None:
        """``code``: what ran if a design has added instructions to the kernel."""
        run = {"kernel": digest_of(kernel), "path": path_digest(path), "order": order}
        run |= {} if code is None else {"code": digest_of(code)}
        super().__init__(file, {"name": kernel.name, **run, **asdict(slots)})
        self._sm = 0
        self._words: list[NDArray[np.uint32]] = []

    def append_records(self, sm: int, words: NDArray[np.uint32]) -> None:
        """Append whole records of one SM, as uint32 words."""
        if sm != self._sm:
            self._sm = sm
            self._words.append(np.array([ScheduleWord.SM | sm << SLOT_SHIFT], np.uint32))
        self._words.append(words)
        if sum(one.size for one in self._words) >= CHUNK_WORDS:
            self.end_chunk()

    def finish(self, totals: Mapping[str, Any]) -> None:
        """Write the footer."""
        self.end_chunk()
        super().finish(totals)

    def end_chunk(self) -> None:
        """Start a new chunk."""
        words = np.concatenate([np.zeros(0, np.uint32), *self._words])
        self._words.clear()
        if words.size:
            self.append(Stream.SCHEDULE, words)


class Schedule(ChunkFile):
    """The schedule of one run."""

    MAGIC: ClassVar[bytes] = MAGIC
    STREAMS: ClassVar[tuple[Stream, ...]] = STREAMS
    KIND: ClassVar[str] = "schedule"

    @cached_property
    def slots(self) -> Slots:
        """The warp slots of the machine."""
        header: dict[str, Any] = self.header
        return Slots(header["sms"], header["warps"], header["schedulers"])

    @cached_property
    def order(self) -> RecordOrder:
        """The scope within which records are in the order of the run; default for old files: an SM."""
        order: RecordOrder = self.header.get("order", "sm")
        return order

    @property
    def code(self) -> str | None:
        """Digest of the code that ran if a design had added instructions to the kernel."""
        code: str | None = self.header.get("code")
        return code

    def chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The words, in chunks that break between records."""
        return (chunk.view(np.uint32) for chunk in self._chunks(Stream.SCHEDULE))

    def check(self, kernel: Kernel, path: RecordedPath) -> None:
        """Raises TraceError if this is the schedule of another run."""
        name = self.header["name"]
        if self.header["kernel"] != digest_of(kernel):
            raise TraceError(f"{self.name}: the schedule is of another kernel: {name}, not this {kernel.name}")
        if self.header["path"] != path_digest(path):
            raise TraceError(f"{self.name}: the schedule is of another run of {name}: its path differs")
