"""Recording of a launch: fixed buffers that native code fills, written to a file when one is full.

A second thread compresses and writes them while native code fills others, if the process may use two processors and is
not one of several that share them.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import tempfile
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.block.native_records import Slot
from warpreg.simt.block.widths import SPARE_BYTES
from warpreg.simt.kernel.native_kernel import NativeKernel, Record
from warpreg.simt.launch.faults import ExecutionError
from warpreg.trace import Stream, Trace, TraceWriter

BUFFER_BYTES = 1 << 18
IN_MEMORY_BYTES = 1 << 18
"""A recording of at most this size remains in memory."""

LONGEST_VISIT_WORDS = 8
"""Words that begin a thread block, name a warp and record one visit, together."""

WORDS_PER_ACCESS = 68
"""Maximum number of words that one memory instruction appends to the recorded addresses."""

WIDTHS_PER_INSTRUCTION = 8
"""Maximum number of warp-registers that one instruction writes (a vector of four 64-bit values)."""

_FIELDS = {
    Stream.PATH: (Slot.PATH, Slot.PATH_LIMIT),
    Stream.ADDRESSES: (Slot.ADDRESSES, Slot.ADDRESSES_LIMIT),
    Stream.WIDTHS: (Slot.WIDTHS, Slot.WIDTHS_LIMIT),
}


@dataclass(frozen=True, slots=True)
class _Buffer:
    """Buffer of a stream: native code fills it from ``first`` and stops between records beyond ``limit``."""

    stream: Stream
    content: NDArray[np.uint8]
    first: int
    limit: int


class Recorder:
    """The recording of one launch."""

    def __init__(
        self, native: NativeKernel, record: Record, header: dict[str, Any], launch: NDArray[np.uint64]
    ) -> None:
        self._launch = launch
        self._buffers: list[_Buffer] = []
        self._file: BinaryIO = io.BytesIO()
        self._writer = TraceWriter(self._file, header) if record.any else None
        self._parts: dict[int, list[tuple[Stream, NDArray[np.uint8]]]] = {}
        self._part: int | None = None
        self._writing: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []
        if record.path:
            self._buffers.append(_buffer(Stream.PATH, 4 * LONGEST_VISIT_WORDS))
        if record.addresses:
            self._buffers.append(_buffer(Stream.ADDRESSES, 4 * WORDS_PER_ACCESS * native.longest_block))
        if record.values:
            margin = WIDTHS_PER_INSTRUCTION * native.longest_block + SPARE_BYTES
            self._buffers.append(_buffer(Stream.WIDTHS, margin))
        self._rewind()

    def go_on_with(self, part: int) -> None:
        """Assign further records to thread block ``part``.  Parts are kept in memory and written in their order at the
        end.
        """
        self._write()
        self._part = part

    def _rewind(self) -> None:
        for buffer in self._buffers:
            self._fill(buffer)

    def _fill(self, buffer: _Buffer) -> None:
        """Let native code fill a buffer from its beginning."""
        field, limit = _FIELDS[buffer.stream]
        self._launch[field] = buffer.first
        self._launch[limit] = buffer.limit

    def _used(self, buffer: _Buffer) -> int:
        """Bytes of a buffer that native code has filled."""
        return int(self._launch[_FIELDS[buffer.stream][0]]) - buffer.first

    def flush(self) -> None:
        """Write out and empty the buffers that are full.  Raises ExecutionError if the disk does not accept the data,
        of this call or the one before.
        """
        if self._part is not None:
            self._write()
            return
        self._wait()
        for place, buffer in enumerate(self._buffers):
            used = self._used(buffer)
            if buffer.first + used <= buffer.limit:
                continue
            if _may_use_two_processors():
                self._writing = self._writing or ThreadPoolExecutor(1, "recording")
                self._pending.append(self._writing.submit(self._write_other, buffer, used))
                self._buffers[place] = _taken(buffer.stream, buffer.content.size)
            else:
                self._append(buffer.stream, buffer.content[:used])
            self._fill(self._buffers[place])

    def _write_other(self, buffer: _Buffer, used: int) -> None:
        """Write a buffer that is not in use any more."""
        self._append(buffer.stream, buffer.content[:used])
        _leave(buffer)

    def _wait(self) -> None:
        """Wait until all that was handed to the other thread is written."""
        while self._pending:
            self._pending.pop(0).result()

    def _write(self) -> None:
        """Write out and empty the buffers in this thread."""
        self._wait()
        for buffer in self._buffers:
            used = self._used(buffer)
            if used and self._part is not None:
                self._parts.setdefault(self._part, []).append((buffer.stream, buffer.content[:used].copy()))
            elif used:
                self._append(buffer.stream, buffer.content[:used])
        self._rewind()

    def _append(self, stream: Stream, content: NDArray[np.uint8]) -> None:
        assert self._writer is not None
        try:
            self._writer.append(stream, content)
            if isinstance(self._file, io.BytesIO) and self._file.tell() > IN_MEMORY_BYTES:
                file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the trace closes it
                file.write(self._file.getbuffer())
                self._file = file
                self._writer.move_to(file)
        except OSError as error:
            raise _disk_error(error) from error

    def finish(self, totals: dict[str, Any]) -> Trace | None:
        """The finished trace, in memory or in an unnamed file that is deleted with it."""
        self._write()
        if self._writer is None:
            return None
        for part in sorted(self._parts):
            for stream, content in self._parts[part]:
                self._append(stream, content)
        stored = {_NAMES[stream]: size for stream, size in self._writer.stored_bytes.items()}
        try:
            self._writer.finish({**totals, "stored_bytes": stored})
        except OSError as error:
            raise _disk_error(error) from error
        self._give_back()
        trace = Trace(self._file, written=self._writer)
        if not isinstance(self._file, io.BytesIO):
            weakref.finalize(trace, self._file.close)
        return trace

    def abandon(self) -> None:
        """Delete the data of a launch that did not finish."""
        self._give_back()
        with contextlib.suppress(OSError):  # a full disk refuses what has not been written yet once more
            self._file.close()

    def _give_back(self) -> None:
        """Leave the buffers to the next launch."""
        if self._writing is not None:
            self._writing.shutdown()
        while self._buffers:
            _leave(self._buffers.pop())


def _disk_error(error: OSError) -> ExecutionError:
    return ExecutionError(f"the recording cannot be written to {tempfile.gettempdir()}: {error.strerror}")


_NAMES = {stream: stream.name.lower() for stream in Stream}

_FREE: dict[tuple[Stream, int], list[_Buffer]] = {}
"""Buffers of finished launches by stream and size: the system would clear the pages of new ones."""


def _leave(buffer: _Buffer) -> None:
    _FREE.setdefault((buffer.stream, buffer.content.size), []).append(buffer)


def _may_use_two_processors() -> bool:
    return len(os.sched_getaffinity(0)) > 1 and multiprocessing.parent_process() is None


def _buffer(stream: Stream, margin: int) -> _Buffer:
    return _taken(stream, 1 << (BUFFER_BYTES + margin - 1).bit_length())


def _taken(stream: Stream, size: int) -> _Buffer:
    """A buffer that is not in use."""
    free = _FREE.get((stream, size))
    if free:
        return free.pop()
    content = np.empty(size, np.uint8)
    first = content.ctypes.data
    return _Buffer(stream, content, first, first + BUFFER_BYTES)
