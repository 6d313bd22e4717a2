"""The trace file: path, addresses and value widths of one launch, in the container of :mod:`warpreg.trace.chunked`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.chunked import ChunkFile, ChunkWriter, Stream
from warpreg.trace.path import numbered, words_digest

MAGIC = b"WARPREG5"
STREAMS = (Stream.PATH, Stream.ADDRESSES, Stream.WIDTHS)


class TraceWriter(ChunkWriter):
    """Writes one trace to a seekable binary file; without ``finish`` readers reject it as incomplete."""

    MAGIC: ClassVar[bytes] = MAGIC
    STREAMS: ClassVar[tuple[Stream, ...]] = STREAMS


class Trace(ChunkFile):
    """One launch's recording."""

    MAGIC: ClassVar[bytes] = MAGIC
    STREAMS: ClassVar[tuple[Stream, ...]] = STREAMS
    KIND: ClassVar[str] = "trace"

    @cached_property
    def path_digest(self) -> str:
        """SHA-256 of the words of the path."""
        return words_digest(self.path_chunks())

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The path (see `warpreg.trace.path`), in chunks that break between records."""
        return numbered(chunk.view(np.uint32) for chunk in self._chunks(Stream.PATH))

    def address_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The addresses (see `warpreg.trace.addresses`)."""
        return (chunk.view(np.uint32) for chunk in self._chunks(Stream.ADDRESSES))

    def width_chunks(self) -> Iterator[NDArray[np.uint8]]:
        """One byte per written warp-register, in execution order: the bytes (1 to 4) that hold every lane's value."""
        return self._chunks(Stream.WIDTHS)
