"""The trace file: a header, compressed chunks of the recorded streams, and a footer.

    header   8 bytes magic ``WARPREG1``, u32 length, that many bytes of JSON (what ran)
    chunk    u8 stream, u32 raw bytes, u32 stored bytes, u32 CRC-32 of the raw bytes, then the chunk, zstd-compressed
    footer   u8 255, u32 length, that many bytes of JSON (totals), u32 CRC-32 of it, 8 bytes magic ``WARPREGE``

All numbers are little-endian.  A file without its footer, or with a chunk whose length or CRC does not fit, is truncated or
damaged and is refused where that is found.
"""

from __future__ import annotations

import enum
import json
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard
from numpy.typing import NDArray

from warpreg.ir.errors import WarpregError

MAGIC, END = b"WARPREG1", b"WARPREGE"
CHUNK = struct.Struct("<BIII")
FOOTER = 255
LEVEL = 1


class TraceError(WarpregError):
    """A file that is not a trace, or a trace that is cut off or damaged."""


class Stream(enum.IntEnum):
    """What a chunk holds."""

    PATH = 0
    ADDRESSES = 1
    WIDTHS = 2


class TraceWriter:
    """Writes one trace to a seekable binary file; without ``finish`` it stays recognisably incomplete."""

    def __init__(self, file: BinaryIO, header: Mapping[str, Any]) -> None:
        self.stored_bytes = {stream: 0 for stream in Stream}
        self._file = file
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        text = json.dumps(header, sort_keys=True).encode()
        self._file.write(MAGIC + struct.pack("<I", len(text)) + text)

    def append(self, stream: Stream, data: NDArray[Any]) -> None:
        """Append a chunk (uint32 words of a path or of addresses, uint8 widths)."""
        raw = data.view(np.uint8).data
        stored = self._compressor.compress(raw)
        self._file.write(CHUNK.pack(stream, len(raw), len(stored), zlib.crc32(raw)))
        self._file.write(stored)
        self.stored_bytes[stream] += len(stored) + CHUNK.size

    def finish(self, totals: Mapping[str, Any]) -> None:
        """Write the footer."""
        text = json.dumps(totals, sort_keys=True).encode()
        self._file.write(bytes([FOOTER]) + struct.pack("<I", len(text)) + text)
        self._file.write(struct.pack("<I", zlib.crc32(text)) + END)
        self._file.flush()


class Trace:
    """One launch's recording; reading streams it, so memory does not grow with its length.

    ``header`` says what ran, ``totals`` what came of it.  Raises TraceError where the file turns out foreign, truncated or
    damaged, naming it ``name``.
    """

    def __init__(self, file: BinaryIO, name: str = "trace") -> None:
        self.name = name
        self._file = file
        self.header, self._first = self._read_header()
        self.totals = self._read_footer()

    @classmethod
    def open(cls, path: Path) -> Trace:
        """The trace in a file."""
        return cls(path.open("rb"), str(path))

    def save(self, path: Path) -> None:
        """Write the trace to a file, which appears under its name only when it is complete."""
        partial = path.with_name(path.name + ".part")
        self._file.seek(0)
        try:
            with partial.open("wb") as file:
                shutil.copyfileobj(self._file, file)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The path (see `warpreg.trace.path`), in chunks that break between records."""
        return (chunk.view(np.uint32) for chunk in self._chunks(Stream.PATH))

    def address_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The addresses (see `warpreg.trace.addresses`)."""
        return (chunk.view(np.uint32) for chunk in self._chunks(Stream.ADDRESSES))

    def width_chunks(self) -> Iterator[NDArray[np.uint8]]:
        """One byte a written warp-register, in execution order: the bytes (1 to 4) that hold every lane's value."""
        return self._chunks(Stream.WIDTHS)

    def _read_header(self) -> tuple[dict[str, Any], int]:
        file = self._file
        file.seek(0)
        start = file.read(12)
        if start[:8] != MAGIC or len(start) < 12:
            raise TraceError(f"{self.name}: not a Warpreg trace")
        (length,) = struct.unpack("<I", start[8:])
        text = file.read(length)
        if len(text) < length:
            raise TraceError(f"{self.name}: the trace is cut off inside its header")
        return json.loads(text), 12 + length

    def _read_footer(self) -> dict[str, Any]:
        file = self._file
        file.seek(self._first)
        while True:
            kind = file.read(1)
            if not kind:
                raise TraceError(f"{self.name}: the trace is cut off at byte {file.tell()}: it has no footer")
            if kind[0] == FOOTER:
                return self._parse_footer(file)
            rest = file.read(CHUNK.size - 1)
            if len(rest) < CHUNK.size - 1 or kind[0] not in Stream._value2member_map_:
                raise TraceError(f"{self.name}: the trace is damaged before byte {file.tell()}")
            file.seek(CHUNK.unpack(kind + rest)[2], 1)

    def _parse_footer(self, file: BinaryIO) -> dict[str, Any]:
        length = file.read(4)
        text = file.read(struct.unpack("<I", length)[0]) if len(length) == 4 else b""
        tail = file.read()
        if len(tail) != 12 or tail[4:] != END or struct.unpack("<I", tail[:4])[0] != zlib.crc32(text):
            raise TraceError(f"{self.name}: the trace is cut off or damaged in its footer")
        totals: dict[str, Any] = json.loads(text)
        return totals

    def _chunks(self, wanted: Stream) -> Iterator[NDArray[np.uint8]]:
        """The chunks of a stream; several may be read at the same time."""
        decompressor = zstandard.ZstdDecompressor()
        file, at = self._file, self._first
        while True:
            file.seek(at)
            kind = file.read(1)
            if not kind or kind[0] == FOOTER:
                return
            stream, raw, stored, crc = CHUNK.unpack(kind + file.read(CHUNK.size - 1))
            if stream == wanted:
                yield self._decompress(decompressor, file.read(stored), raw, crc, at)
            at += CHUNK.size + stored

    def _decompress(
        self, decompressor: zstandard.ZstdDecompressor, data: bytes, raw: int, crc: int, at: int
    ) -> NDArray[np.uint8]:
        try:
            content = decompressor.decompress(data, max_output_size=raw)
        except zstandard.ZstdError:
            content = b""
        if len(content) != raw or zlib.crc32(content) != crc:
            raise TraceError(f"{self.name}: the trace is damaged in the chunk at byte {at}")
        return np.frombuffer(content, np.uint8)
