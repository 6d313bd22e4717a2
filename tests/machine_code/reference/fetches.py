"""Texture fetches: coordinates and handle from registers or constant bank 0, texels by `tests.reference.textures`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import Step
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.reading import M32, Read, signed
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction
from tests.reference.textures import ReferenceTexture, cube_face, single

COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "CUBE": 3, "ARRAY_1D": 2, "ARRAY_2D": 3}
ALL = 15
"""The mask of channels, if none is listed."""


def fetch(i: Instruction) -> Step:
    """``TEX`` and ``TLD``: the second destination gets the first two channels of the mask, the first the others."""
    upper, lower, *rest = i.operands
    sources = []
    while rest[0].kind == "register" and not rest[0].uniform:
        sources.append(rest.pop(0))
    handle, shape = _handle(rest), rest[2].text
    mask = rest[3].number if len(rest) > 3 else ALL
    count = COORDINATES[shape]
    if i.has("SCR"):  # pairs of coordinates, then the level
        given = [word for one in sources for word in _words(one, 2)]
        points, level = given[:count], given[count:]
    else:  # all coordinates in consecutive registers; the level in another
        points, level = _words(sources[0], count), [word for one in sources[1:] for word in _words(one, 1)]
    channels = [n for n in range(4) if mask >> n & 1]
    pairs = [(lower, channels[:2]), (upper, channels[2:])]
    writes = [(reading.set_words(one, len(part)), part) for one, part in pairs if part]

    def step(lane: Lane) -> None:
        if i.has("LL") and single(level[0](lane)) > 0:
            raise i.unknown("a level of detail")
        texture = lane.warp.block.launch.textures[handle(lane)]
        found = texel(texture, shape, [read(lane) for read in points], i.opcode == "TLD")
        for write, part in writes:
            write(lane, sum(found[channel] << 32 * n for n, channel in enumerate(part)))

    return step


def _handle(rest: list[Operand]) -> Read:
    """In a uniform register, or in a word of constant bank 0."""
    if rest[0].kind == "register":
        return reading.bits32(rest[0])
    at = 4 * rest[1].number
    return lambda lane: int.from_bytes(lane.warp.block.launch.constants[rest[0].number][at : at + 4], "little")


def _words(one: Operand, count: int) -> list[Read]:
    """Consecutive registers."""
    read = reading.words(one, count)

    def word(n: int) -> Read:
        return lambda lane: read(lane) >> 32 * n & M32

    return [word(n) for n in range(count)]


def texel(texture: ReferenceTexture, shape: str, given: list[int], is_whole: bool) -> list[int]:
    """Four channels."""
    layer = given.pop(0) if shape.startswith("ARRAY") else 0
    if is_whole:
        return texture.whole(layer, [signed(word) for word in given])
    layer = min(layer, texture.image.layers - 1)
    with np.errstate(all="ignore"):
        extents = 3 if shape == "CUBE" else len(texture.image.extents)  # code fetches 1D textures as 2D
        numbers = [single(bits) for bits in given[:extents]]
        if shape == "CUBE":
            layer, numbers = cube_face(*numbers)
        return [word & M32 for word in texture.sample(layer, numbers)]


STEPS: dict[str, Callable[[Instruction], Step]] = {"TEX": fetch, "TLD": fetch}
