"""Traces in the compression of Accel-Sim 2.0, written from their text."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

import zstandard

WARP = re.compile(r"warp = (\d+)\ninsts = (\d+)\n((?:.+\n)*)")
PLACE = re.compile(r"thread block = (\d+),(\d+),(\d+)")


def tracez(text: str, part: int = 2048, dictionary: bytes = b"", end: bytes = b"") -> bytes:
    """A ``.tracez`` file of the text of a trace, in parts of ``part`` lines; ``end`` stands behind the index."""
    head, *blocks = text.split("\n#BEGIN_TB\n")
    given = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    compressor = zstandard.ZstdCompressor(level=3, dict_data=given)
    data = head.encode() + b"\0" + struct.pack("<II", len(dictionary), part) + dictionary
    index = struct.pack("<I", len(blocks))
    for block in blocks:
        found = PLACE.search(block)
        assert found
        warps = WARP.findall(block)
        index += struct.pack("<11I", *map(int, found.groups()), *(0,) * 7, len(warps))
        for _, announced, lines in warps:
            parts = _parts(lines.splitlines(), part)
            index += struct.pack("<IIQ", int(announced), len(parts), len(data))
            index += b"".join(struct.pack("<I", len(one)) for one in parts)
            data += struct.pack("<II", int(announced), len(parts))
            for one in parts:
                frame = compressor.compress("\n".join(one).encode())
                data += struct.pack("<I", len(frame)) + frame
    return data + index + end + struct.pack("<Q", len(data))


def _parts(lines: Sequence[str], size: int) -> list[Sequence[str]]:
    return [lines[at : at + size] for at in range(0, len(lines), size)]
