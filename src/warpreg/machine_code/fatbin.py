"""Cubins in a fat binary: what ``nvcc -fatbin`` writes.

A container begins with 16 bytes (`CONTAINER`: magic, version, bytes of this header, bytes of what follows).  Each
entry in it has a header (`ENTRY`) and its padded content; where flags say so, that is an LZ4 block or a zstd frame.
The layout was read from files of nvcc 13.5 in all its compression modes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

import zstandard

from warpreg.machine_code.elf import unpacked
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.tools import VendorToolMissingError

MAGIC = 0xBA55ED50
CONTAINER = struct.Struct("<IHHQ")
ENTRY = struct.Struct("<HHIQI4x4xI8xQ8xQ")
"""Kind, version, bytes of the header, padded bytes of the content, bytes of it if compressed, architecture, flags,
bytes of it uncompressed."""
CUBIN = 2
LZ4, ZSTD = 0x2000, 0x8000
PACKED = "a compressed cubin that cannot be unpacked"
MAX_BYTES = 1 << 30
"""Limit of a cubin; a size beyond it is taken as damage."""


@dataclass(frozen=True, slots=True)
class Image:
    """A cubin of an architecture."""

    architecture: str
    data: bytes


def read(data: bytes, name: str) -> list[Image]:
    """The cubins, in order.  Raises MachineCodeError for a file that is no fat binary, or is cut."""
    if data[:4] != MAGIC.to_bytes(4, "little"):
        raise MachineCodeError(f"{name}: no fat binary: it does not begin with {MAGIC:#x}")
    try:
        return list(_images(data))
    except ValueError as error:
        raise MachineCodeError(f"{name}: a damaged fat binary: {error}") from error


def _images(data: bytes) -> Iterator[Image]:
    at = 0
    while at < len(data):
        magic, _, header, size = unpacked(CONTAINER, data, at, "a container")
        end = at + header + size
        if magic != MAGIC or header < CONTAINER.size or end > len(data):
            raise ValueError(f"a container of {header + size} bytes at byte {at} of {len(data)}")
        at += header
        while at < end:
            kind, _, header, padded, packed, architecture, flags, whole = unpacked(ENTRY, data, at, "an entry")
            if header < ENTRY.size or at + header + padded > end:
                raise ValueError(f"an entry of {header + padded} bytes at byte {at} of {end}")
            content = data[at + header : at + header + padded]
            if kind == CUBIN:
                yield Image(f"sm_{architecture}", _content(content[:packed] if packed else content, flags, whole))
            at += header + padded


def _content(content: bytes, flags: int, whole: int) -> bytes:
    """The content of an entry, unpacked; ``whole`` are its bytes.  Raises ValueError, VendorToolMissingError."""
    if not flags & (ZSTD | LZ4):
        return content
    if whole > MAX_BYTES:
        raise ValueError(f"a cubin of {whole} bytes, expected at most {MAX_BYTES}")
    try:
        zstd = zstandard.ZstdDecompressor()
        cubin = zstd.decompress(content, max_output_size=whole) if flags & ZSTD else _lz4(content, whole)
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(PACKED) from error
    if len(cubin) != whole:
        raise ValueError(f"a cubin of {len(cubin)} bytes, expected {whole}")
    return cubin


def _lz4(content: bytes, whole: int) -> bytes:
    """Raises ValueError, and VendorToolMissingError without the library for LZ4."""
    try:
        block = import_module("lz4.block")
    except ImportError:
        raise VendorToolMissingError("lz4") from None
    try:
        found: bytes = block.decompress(content, uncompressed_size=whole)
    except block.LZ4BlockError as error:
        raise ValueError(PACKED) from error
    return found
