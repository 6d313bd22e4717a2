"""``.tracez``: the text of a trace as Accel-Sim 2.0 compresses it, thread block by thread block.

    header    the lines of the header, then a null byte
    sizes     u32 bytes of the dictionary, u32 most instructions of a part (unless a replayed region is longer)
    dictionary of zstd, may be empty
    warps     u32 instructions, u32 parts; of each part, u32 bytes and a zstd frame of its lines, joined by line feeds
    index     u32 thread blocks; of each, u32 x, y, z, three of its cluster, three of its place in this, its rank, its
              warps; of each warp, u32 instructions, u32 parts, u64 offset in the file, u32 instructions of each part
    end       u64 offset of the index

All numbers are little-endian.  Source: Accel-Sim 2.0, ``util/tracer_nvbit/tracer_tool/tracez_format.h`` and
``traces-processing/post-traces-processing.cpp``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

SIZES, COUNT, OFFSET = struct.Struct("<II"), struct.Struct("<I"), struct.Struct("<Q")
THREAD_BLOCK, WARP = struct.Struct("<11I"), struct.Struct("<IIQ")
MAX_HEADER_BYTES = 1 << 20
READ_BYTES = 1 << 14


class TracezError(Exception):
    """What is wrong with a ``.tracez`` file, without its name."""


@dataclass(frozen=True, slots=True)
class _Warp:
    instructions: int
    parts: int
    offset: int


@dataclass(frozen=True, slots=True)
class _ThreadBlock:
    place: tuple[int, ...]
    warps: tuple[_Warp, ...]


def text_of(file: BinaryIO) -> Iterator[bytes]:
    """The text of a trace in pieces, in the order of the index: that of a ``.traceg``, without the lines of clusters.

    Raises TracezError, and zstandard.ZstdError for damaged frames; OSError.
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    yield _header(file)
    size, _ = SIZES.unpack(_exactly(file, SIZES.size, "the sizes"))
    if size > length:
        raise TracezError(f"its dictionary should have {size} bytes")
    dictionary = zstandard.ZstdCompressionDict(_exactly(file, size, "the dictionary")) if size else None
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary)
    for block in _index(file, length - OFFSET.size):
        x, y, z = block.place
        yield f"\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n".encode()
        for number, warp in enumerate(block.warps):
            yield f"\nwarp = {number}\ninsts = {warp.instructions}\n".encode()
            yield from _lines(file, warp, decompressor)
        yield b"\n#END_TB\n"


def _header(file: BinaryIO) -> bytes:
    start = file.read(MAX_HEADER_BYTES)
    text, end, _ = start.partition(b"\0")
    if not end:
        raise TracezError("no null byte ends its header")
    file.seek(len(text) + 1)
    return text


def _index(file: BinaryIO, end: int) -> Iterator[_ThreadBlock]:
    """The thread blocks in order, with their warps; the index must stop at ``end``."""
    start = file.tell()
    file.seek(max(start, end))
    (offset,) = OFFSET.unpack(_exactly(file, OFFSET.size, "the place of the index"))
    if not start <= offset <= end - COUNT.size:
        raise TracezError(f"its last 8 bytes should be the place of its index, found {offset}")
    file.seek(offset)
    index = file.read(end - offset)
    (count,), at = COUNT.unpack_from(index), COUNT.size
    for _ in range(count):
        block, at = _thread_block(index, at, offset)
        yield block
    if at != len(index):
        raise TracezError(f"{len(index) - at} bytes are left behind its index")


def _thread_block(index: bytes, at: int, end: int) -> tuple[_ThreadBlock, int]:
    """The thread block at a place of the index, and the place behind it; warps begin before ``end``."""
    try:
        x, y, z, *_, count = THREAD_BLOCK.unpack_from(index, at)
        at += THREAD_BLOCK.size
        warps = []
        for _ in range(count):
            warps.append(_Warp(*WARP.unpack_from(index, at)))
            at += WARP.size + COUNT.size * warps[-1].parts
    except struct.error:
        raise TracezError("its index ends too early") from None
    beyond = [warp.offset for warp in warps if warp.offset >= end]
    if beyond:
        raise TracezError(f"its index has a warp at byte {beyond[0]}, which is not before the index")
    return _ThreadBlock((x, y, z), tuple(warps)), at


def _lines(file: BinaryIO, warp: _Warp, decompressor: zstandard.ZstdDecompressor) -> Iterator[bytes]:
    """The lines of a warp."""
    file.seek(warp.offset)
    found = SIZES.unpack(_exactly(file, SIZES.size, "a warp"))
    if found != (warp.instructions, warp.parts):
        raise TracezError(
            f"its index has {warp.instructions} instructions in {warp.parts} parts at byte {warp.offset}, where the"
            f" warp has {found[0]} in {found[1]}"
        )
    for _ in range(warp.parts):
        (left,) = COUNT.unpack(_exactly(file, COUNT.size, "the size of a part"))
        frame = decompressor.decompressobj()
        while left:
            data = _exactly(file, min(left, READ_BYTES), "a part")
            left -= len(data)
            yield frame.decompress(data)
        if not frame.eof:
            raise TracezError("a part ends inside its zstd frame")
        yield b"\n"


def _exactly(file: BinaryIO, count: int, what: str) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise TracezError(f"it ends within {what}")
    return data
