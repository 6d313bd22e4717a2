"""The text of a trace, plain or compressed, in pieces that end with a line."""

from __future__ import annotations

import codecs
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

from warpreg.sass.errors import SassTraceError
from warpreg.sass.parse.tracez import TracezError, text_of

PIECE_BYTES = 1 << 20
COMPRESSED_BYTES = 1 << 14
LONGEST_LINE = 1 << 16
PADDING = bytes(64)
"""Padding after every piece, so that a reader may look past its end."""


class Source:
    """A trace file; ``name`` is its name in messages."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def pieces(self) -> Iterator[bytes]:
        """Whole lines, about a megabyte at a time, without the padding and a byte order mark; the last line ends with
        a line feed too.

        Raises SassTraceError for a damaged or truncated compressed file, and OSError.
        """
        rest, is_first = b"", True
        for data in self._decompressed():
            if is_first:
                data, is_first = data.removeprefix(codecs.BOM_UTF8), False
            whole, feed, tail = (rest + data).rpartition(b"\n")
            if len(tail) > LONGEST_LINE:
                raise SassTraceError(f"{self.name}: a line of more than {LONGEST_LINE} characters is not of a trace")
            rest = tail
            if feed:
                yield whole + feed
        if rest:
            yield rest + b"\n"

    def _decompressed(self) -> Iterator[bytes]:
        with self._path.open("rb") as file, self._naming_damage():
            readers = {".xz": _from_xz, ".zst": _from_zst, ".tracez": text_of}
            yield from readers.get(self._path.suffix, _plain)(file)

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except (lzma.LZMAError, zstandard.ZstdError, TracezError) as error:
            raise SassTraceError(f"{self.name}: the compressed file is damaged: {error}") from error
        except EOFError as error:
            raise SassTraceError(f"{self.name}: the compressed file is cut off") from error


XZ_MAGIC = b"\xfd7zXZ\x00"


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while data := file.read(PIECE_BYTES):
        yield data


def _from_xz(file: BinaryIO) -> Iterator[bytes]:
    """Decompress; raises LZMAError for a wrong start of the file, which the decompressor would skip."""
    if file.read(len(XZ_MAGIC)) not in (b"", XZ_MAGIC):
        raise lzma.LZMAError("the first bytes are not those of an .xz file")
    file.seek(0)
    with lzma.open(file) as text:
        while data := text.read(PIECE_BYTES):
            yield data


def _from_zst(file: BinaryIO) -> Iterator[bytes]:
    """Decompress frame by frame; raises EOFError if the file ends inside one."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    started = False
    while data := file.read(COMPRESSED_BYTES):
        while data:
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(data)
            started = True
            data = frame.unused_data if frame.eof else b""
    if not started or not frame.eof:
        raise EOFError
