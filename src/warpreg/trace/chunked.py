"""The container of recorded streams: a header, compressed chunks, and a footer.

    header   8 bytes magic, u32 length, that many bytes of JSON (what ran)
    chunk    u8 stream, u32 raw bytes, u32 stored bytes, u32 CRC-32 of these, then the chunk as a zstd frame
    footer   u8 255, u32 length, that many bytes of JSON (totals), u32 CRC-32, 8 bytes magic ``WARPREGE``

All numbers are little-endian.  The CRC of the footer covers everything before it except the zstd frames, which have
their own.  A truncated, damaged or foreign file is rejected when it is opened, damage inside a chunk when the chunk is
read.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import json
import struct
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
import zstandard
from numpy.typing import NDArray

from warpreg.ir.errors import WarpregError
from warpreg.trace.files import whole

END = b"WARPREGE"
HEAD = struct.Struct("<8sI")
CHUNK = struct.Struct("<BIII")
LENGTH = struct.Struct("<I")
FOOTER = 255
_ENCODER = json.JSONEncoder(sort_keys=True)
COPIED_BYTES = 1 << 20


class TraceError(WarpregError):
    """A file that is not a trace or schedule, or one that is truncated, damaged or of another run."""


class Stream(enum.IntEnum):
    """The content of a chunk."""

    PATH = 0
    ADDRESSES = 1
    WIDTHS = 2
    SCHEDULE = 3


LEVELS = {Stream.PATH: -12, Stream.ADDRESSES: -100, Stream.WIDTHS: -1, Stream.SCHEDULE: -5}
"""Compression levels: addresses are already compact, and searching them for matches would take longer than the run."""


@functools.lru_cache(maxsize=64)
def _compressor(stream: Stream, thread: int) -> zstandard.ZstdCompressor:
    """That of a thread, by its identifier: one cannot serve two threads at a time."""
    return zstandard.ZstdCompressor(level=LEVELS[stream])


class ChunkWriter:
    """Writes one file of chunks to a seekable binary file; without ``finish`` readers reject it as incomplete.

    ``header``, ``totals`` and ``end`` are those of the finished file: the bytes of the header, the JSON of the footer,
    and the number of bytes.
    """

    MAGIC: ClassVar[bytes]
    STREAMS: ClassVar[tuple[Stream, ...]]

    def __init__(self, file: BinaryIO, header: Mapping[str, Any]) -> None:
        self.stored_bytes = dict.fromkeys(self.STREAMS, 0)
        self._file = file
        text = _encoded(header)
        self.header = HEAD.pack(self.MAGIC, len(text)) + text
        self.totals = b""
        self.end = 0
        self._crc = zlib.crc32(self.header)
        file.write(self.header)

    def append(self, stream: Stream, data: NDArray[Any]) -> None:
        """Append a chunk (uint32 words of a path, of addresses or of a schedule, uint8 widths)."""
        raw = data.view(np.uint8).data
        stored = _compressor(stream, threading.get_ident()).compress(raw)
        head = CHUNK.pack(stream, len(raw), len(stored), zlib.crc32(stored))
        self._crc = zlib.crc32(head, self._crc)
        self._file.write(head)
        self._file.write(stored)
        self.stored_bytes[stream] += len(stored) + CHUNK.size

    def move_to(self, file: BinaryIO) -> None:
        """Go on in another file, which has the same content."""
        self._file = file

    def finish(self, totals: Mapping[str, Any]) -> None:
        """Write the footer."""
        self.totals = _encoded(totals)
        footer = bytes([FOOTER]) + LENGTH.pack(len(self.totals)) + self.totals
        self._file.write(footer + LENGTH.pack(zlib.crc32(footer, self._crc)) + END)
        self._file.flush()
        self.end = self._file.tell()


def _encoded(content: Mapping[str, Any]) -> bytes:
    """A mapping as JSON."""
    return _ENCODER.encode(content).encode()


class ChunkFile:
    """A recording; reading streams it, so memory does not grow with its length.

    It begins at byte ``start`` of the file; by default it is the whole file.  ``written`` has just written it, so that
    nothing is read and checked.  Raises TraceError, which contains ``name``, if the file is foreign, truncated or
    damaged.
    """

    MAGIC: ClassVar[bytes]
    STREAMS: ClassVar[tuple[Stream, ...]]
    KIND: ClassVar[str]
    """Its name in messages: trace or schedule."""

    def __init__(
        self, file: BinaryIO, name: str = "", start: int | None = None, written: ChunkWriter | None = None
    ) -> None:
        self.name = name or self.KIND
        self._file = file
        self._start = start or 0
        if written is not None:
            self._header, self._first = written.header, len(written.header)
            self._totals, self._end = written.totals, written.end
            return
        self._header, self._first = self._read_header()
        self._totals = self._read_footer(zlib.crc32(self._header))
        self._end = file.tell()
        if start is None and file.read(1):
            raise self._cut_off()

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """What ran."""
        header: dict[str, Any] = json.loads(self._header[HEAD.size :])
        return header

    @functools.cached_property
    def totals(self) -> dict[str, Any]:
        """The totals of the footer."""
        totals: dict[str, Any] = json.loads(self._totals)
        return totals

    @classmethod
    def open(cls, path: Path) -> Self:
        """The recording in a file."""
        return cls._opened(path, None)

    @classmethod
    def open_all(cls, path: Path) -> list[Self]:
        """The recordings of a file that contains several in sequence, written by `save_all`."""
        found = [cls._opened(path, 0)]
        size = path.stat().st_size
        while found[-1]._end < size:
            found.append(cls._opened(path, found[-1]._end))
        return found

    @classmethod
    def _opened(cls, path: Path, start: int | None) -> Self:
        file = path.open("rb")
        try:
            opened = cls(file, str(path), start)
        except TraceError:
            file.close()
            raise
        weakref.finalize(opened, file.close)
        return opened

    def close(self) -> None:
        """Close the file; a recording that was not saved is lost."""
        self._file.close()

    def save(self, path: Path) -> None:
        """Write the recording to a file atomically: it has its name only when it is complete."""
        save_all([self], path)

    def copy_to(self, file: BinaryIO) -> None:
        """Append the recording, byte for byte, to another file."""
        self._file.seek(self._start)
        left = self._end - self._start
        while left:
            piece = self._file.read(min(left, COPIED_BYTES))
            if not piece:
                raise self._cut_off()
            file.write(piece)
            left -= len(piece)

    def _cut_off(self) -> TraceError:
        return TraceError(f"{self.name}: the {self.KIND} is cut off or damaged")

    def _read_header(self) -> tuple[bytes, int]:
        """The bytes of the header, and the offset of the first chunk."""
        self._file.seek(self._start)
        start = self._file.read(HEAD.size)
        if start[: len(self.MAGIC)] != self.MAGIC or len(start) < HEAD.size:
            raise TraceError(f"{self.name}: not a Warpreg {self.KIND}")
        (_, length) = HEAD.unpack(start)
        text = self._file.read(length)
        if len(text) < length:
            raise TraceError(f"{self.name}: the {self.KIND} is cut off inside its header")
        return start + text, self._file.tell()

    def _read_footer(self, crc: int) -> bytes:
        """The JSON of the footer, after a check of the CRC; ``crc`` is that of the header."""
        file = self._file
        while True:
            kind = file.read(1)
            if not kind:
                raise TraceError(f"{self.name}: the {self.KIND} is cut off at byte {file.tell()}: it has no footer")
            if kind[0] == FOOTER:
                break
            head = kind + file.read(CHUNK.size - 1)
            if len(head) < CHUNK.size or kind[0] not in self.STREAMS:
                raise TraceError(f"{self.name}: the {self.KIND} is damaged before byte {file.tell()}")
            crc = zlib.crc32(head, crc)
            file.seek(CHUNK.unpack(head)[2], 1)
        size = file.read(4)
        text = file.read(struct.unpack("<I", size)[0]) if len(size) == 4 else b""
        crc = zlib.crc32(kind + size + text, crc)
        if file.read(4 + len(END)) != struct.pack("<I", crc) + END:
            raise self._cut_off()
        return text

    def _chunks(self, selected: Stream) -> Iterator[NDArray[np.uint8]]:
        """The chunks of a stream; several may be read at the same time."""
        decompressor = zstandard.ZstdDecompressor()
        file, at = self._file, self._first
        while True:
            file.seek(at)
            kind = file.read(1)
            if not kind or kind[0] == FOOTER:
                return
            stream, raw, stored, crc = CHUNK.unpack(kind + file.read(CHUNK.size - 1))
            if stream == selected:
                yield self._decompress(decompressor, file.read(stored), raw, crc, at)
            at += CHUNK.size + stored

    def _decompress(
        self, decompressor: zstandard.ZstdDecompressor, data: bytes, raw: int, crc: int, at: int
    ) -> NDArray[np.uint8]:
        content = b""
        with contextlib.suppress(zstandard.ZstdError):
            if zlib.crc32(data) == crc and zstandard.frame_content_size(data) == raw:
                content = decompressor.decompress(data)
        if len(content) != raw:
            raise TraceError(f"{self.name}: the {self.KIND} is damaged in the chunk at byte {at}")
        return np.frombuffer(content, np.uint8)


def save_all(recordings: Sequence[ChunkFile], path: Path) -> None:
    """Write recordings in sequence to a file atomically: it has its name only when it is complete."""
    with whole(path, makes_folders=False) as unfinished, unfinished.open("wb") as file:
        for one in recordings:
            one.copy_to(file)
