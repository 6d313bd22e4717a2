"""Recording of a launch: fixed buffers that native code fills, written to a file when one is full.

A second thread writes them while native code fills others, and finishes the recording during the next launches.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.block.native_records import Slot
from warpreg.simt.block.widths import SPARE_BYTES
from warpreg.simt.kernel.native_kernel import NativeKernel, Record
from warpreg.simt.launch import second_thread
from warpreg.simt.launch.recording_file import RecordingFile
from warpreg.simt.launch.second_thread import Task
from warpreg.trace import Stream, Trace

BUFFER_BYTES = 1 << 20

FEW_BYTES = 1 << 18
"""A recording of at most this size is copied, and its buffers are free; it is written together with others."""

LONGEST_VISIT_WORDS = 8
"""Words that begin a thread block, name a warp and record one visit, together."""

WORDS_PER_ACCESS = 68
"""Maximum number of words that one memory instruction appends to the recorded addresses."""

WIDTHS_PER_INSTRUCTION = 8
"""Maximum number of warp-registers that one instruction writes (a vector of four 64-bit values)."""

_Piece: TypeAlias = tuple[Stream, NDArray[np.uint8]]
"""Of a stream."""

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


@dataclass(frozen=True, slots=True)
class _Filled:
    """A buffer that native code does not use any more, and how many bytes of it it has filled."""

    buffer: _Buffer
    used: int

    def write(self, file: RecordingFile) -> None:
        """Write its content and leave it to others."""
        if self.used:
            file.append(self.buffer.stream, self.buffer.content[: self.used])
        self.leave()

    def copied(self) -> _Piece:
        """A copy of its content; leaves the buffer to others."""
        content = self.buffer.content[: self.used].copy()
        self.leave()
        return self.buffer.stream, content

    def leave(self) -> None:
        """Leave the buffer to others."""
        _FREE.setdefault((self.buffer.stream, self.buffer.content.size), []).append(self.buffer)


class Recorder:
    """The recording of one launch."""

    def __init__(
        self, native: NativeKernel, record: Record, header: dict[str, Any], launch: NDArray[np.uint64]
    ) -> None:
        self._launch = launch
        self._buffers: list[_Buffer] = []
        self._header = header
        self._file: RecordingFile | None = None
        self._parts: dict[int, list[_Piece]] = {}
        self._part: int | None = None
        if record.path:
            self._buffers.append(_buffer(Stream.PATH, 4 * LONGEST_VISIT_WORDS))
        if record.addresses:
            self._buffers.append(_buffer(Stream.ADDRESSES, 4 * WORDS_PER_ACCESS * native.longest_block))
        if record.values:
            margin = WIDTHS_PER_INSTRUCTION * native.longest_block + SPARE_BYTES
            self._buffers.append(_buffer(Stream.WIDTHS, margin))
        for buffer in self._buffers:
            self._fill(buffer)

    def go_on_with(self, part: int) -> None:
        """Assign further records to thread block ``part``.  Parts are kept in memory and written in their order at the
        end.
        """
        self._keep()
        self._part = part

    def _fill(self, buffer: _Buffer) -> None:
        """Let native code fill a buffer from its beginning."""
        field, limit = _FIELDS[buffer.stream]
        self._launch[field] = buffer.first
        self._launch[limit] = buffer.limit

    def _filled(self, buffer: _Buffer) -> _Filled:
        return _Filled(buffer, int(self._launch[_FIELDS[buffer.stream][0]]) - buffer.first)

    def flush(self) -> None:
        """Hand over the buffers that are full, and fill others.  Raises ExecutionError if the disk does not accept
        what was handed over before.
        """
        if self._part is not None:
            self._keep()
            return
        file = self._file = self._file or RecordingFile(self._header)
        for place, buffer in enumerate(self._buffers):
            filled = self._filled(buffer)
            if buffer.first + filled.used > buffer.limit:
                self._buffers[place] = _taken(buffer.stream, buffer.content.size)
                self._fill(self._buffers[place])
                second_thread.submit(filled.write, file)  # no longer among ours, should Ctrl-C come here
        file.check()

    def _keep(self) -> None:
        """Keep the records of the part, and empty the buffers."""
        for buffer in self._buffers:
            used = self._filled(buffer).used
            if used:
                assert self._part is not None
                self._parts.setdefault(self._part, []).append((buffer.stream, buffer.content[:used].copy()))
            self._fill(buffer)

    def finish(self, totals: dict[str, Any]) -> Task[Trace] | None:
        """The trace, which is still being written; its error is an ExecutionError."""
        if not self._buffers:
            return None
        if self._part is not None:
            self._keep()
        last = [self._filled(self._buffers.pop(0)) for _ in range(len(self._buffers))]
        parts = [piece for part in sorted(self._parts) for piece in self._parts[part]]
        if self._file is not None or parts or sum(filled.used for filled in last) > FEW_BYTES:
            file = self._file or RecordingFile(self._header)
            return second_thread.submit(_finished, file, parts, last, totals)
        pieces = [filled.copied() for filled in last]
        return second_thread.submit_small(_written, self._header, pieces, totals)

    def abandon(self) -> None:
        """Delete the data of a launch that did not finish."""
        for buffer in self._buffers:
            _Filled(buffer, 0).leave()
        self._buffers.clear()
        if self._file is not None:
            second_thread.submit(self._file.close).result()


def _finished(file: RecordingFile, parts: list[_Piece], last: list[_Filled], totals: dict[str, Any]) -> Trace:
    """The trace of a recording whose parts and last buffers are still to be written."""
    for stream, content in parts:
        file.append(stream, content)
    for filled in last:
        filled.write(file)
    return file.finish(totals)


def _written(header: dict[str, Any], pieces: list[_Piece], totals: dict[str, Any]) -> Trace:
    """The trace of a recording of which nothing is written."""
    return _finished(RecordingFile(header), [(s, content) for s, content in pieces if content.size], [], totals)


_FREE: dict[tuple[Stream, int], list[_Buffer]] = {}
"""Buffers that are not in use, by stream and size: the system would clear the pages of new ones."""


def _buffer(stream: Stream, margin: int) -> _Buffer:
    return _taken(stream, 1 << (BUFFER_BYTES + margin - 1).bit_length())


def _taken(stream: Stream, size: int) -> _Buffer:
    """A buffer that is not in use."""
    with contextlib.suppress(KeyError, IndexError):  # not asked before: another thread may take the last one
        return _FREE[stream, size].pop()
    content = np.empty(size, np.uint8)
    first = content.ctypes.data
    return _Buffer(stream, content, first, first + BUFFER_BYTES)
