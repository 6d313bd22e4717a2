"""Statements that access textures and surfaces; handles are numbers that the device assigns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.reference import pure
from tests.reference.integers import value
from tests.reference.memory import ReferenceFault
from tests.reference.memory_statements import ATOMICS
from tests.reference.number import mask, signed
from tests.reference.operands import Execute, Operands, Read, elements, step
from tests.reference.reader import Statement, split_operands
from tests.reference.textures import Image, ReferenceSurface, ReferenceTexture, cube_face, pattern, single
from tests.reference.thread import Thread

COUNTS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
KINDS = {
    "1d": "1d", "2d": "2d", "3d": "3d", "a1d": "1d-layered", "a2d": "2d-layered", "cube": "cube",
    "acube": "cube-layered",
}  # fmt: skip

Fetch = Callable[[Thread], list[int]]


class TextureStatements(Operands):
    """``fetch`` and its kin return what executes a statement."""

    def fetch(self, s: Statement) -> Execute:
        """``tex`` and ``tld4``."""
        shape = next(m for m in s.modifiers if m in COUNTS)
        place = split_operands(s.operands[1].strip()[1:-1])
        handle = self.reader(place[0], "b64")
        points = [self.reader(e, "b32") for e in elements(place[-1])[: COUNTS[shape]]]
        skipped = 1 if "level" in s.modifiers else 2 if "grad" in s.modifiers else 0
        shifts = [self.reader(e, "b32") for o in s.operands[2 + skipped :] for e in elements(o)]
        is_whole = s.modifiers[-1] == "s32"
        channel = "rgba".index(s.modifiers[0]) if s.opcode == "tld4" else -1

        def found(thread: Thread) -> list[int]:
            texture = self._known(handle(thread), ReferenceTexture, shape)
            given = [read(thread) for read in points]
            moves = [signed(read(thread), 32) for read in shifts]
            layer = given.pop(0) if shape.startswith("a") else 0
            if is_whole:
                moves = moves or [0] * len(given)
                index = [signed(signed(g, 32) + m, 32) for g, m in zip(given, moves, strict=False)]
                return texture.whole(layer, index)
            layer = min(layer, _layers(texture.image) - 1)
            with np.errstate(all="ignore"):
                numbers = [single(bits) for bits in given]
                if "cube" in shape:
                    face, numbers = cube_face(*numbers)
                    layer = layer * 6 + face
                if channel >= 0:
                    return texture.footprint(layer, numbers, channel, moves)
                return texture.sample(layer, numbers, moves)

        return self._writing(s, found)

    def _writing(self, s: Statement, found: Fetch) -> Execute:
        vector, _, resident = s.operands[0].partition("|")
        names = elements(vector)
        type_ = next(m for m in s.modifiers if pure.is_type(m) or m == "f16x2")
        writes = [self.writer(n, "b32" if type_ != "f16" else "b16") for n in names]
        write_resident = self.writer(resident.strip() or "_", "pred")

        def execute(thread: Thread) -> None:
            results = found(thread)
            if "16" in type_:
                halves = [_half(bits) for bits in results]
                results = [halves[0] | halves[1] << 16, halves[2] | halves[3] << 16] if type_ == "f16x2" else halves
            for write, bits in zip(writes, results, strict=True):
                write(thread, bits)
            write_resident(thread, 1)

        return step(execute)

    def _known(self, handle: int, wanted: type[Any], shape: str) -> Any:
        found = self.places.textures.get(handle)
        if not isinstance(found, wanted):
            raise ReferenceFault(f"{handle:#x} is no {wanted.__name__}")
        layered_cube = wanted is ReferenceSurface and shape == "a2d" and "cube" in found.image.kind
        if found.image.kind != KINDS[shape] and not layered_cube:
            raise ReferenceFault(f"expected {KINDS[shape]}, found {found.image.kind}")
        return found

    def surface(self, s: Statement) -> Execute:
        """``suld``, ``sust`` and ``sured``."""
        shape = next(m for m in s.modifiers if m in COUNTS)
        bracket, data = (s.operands[1], s.operands[0]) if s.opcode == "suld" else (s.operands[0], s.operands[1])
        place = split_operands(bracket.strip()[1:-1])
        handle = self.reader(place[0], "b64")
        points = [self.reader(e, "b32") for e in elements(place[1])[: COUNTS[shape]]]
        name = next(m for m in reversed(s.modifiers) if pure.is_type(m))
        size = pure.kind_and_bits(name)[1] // 8
        clamp = next((m for m in s.modifiers if m in ("clamp", "zero")), "trap")
        action = {"suld": self._load, "sust": self._store, "sured": self._reduce}[s.opcode]
        act = action(s, name, size, elements(data))
        count = len(elements(data))
        by_sample = s.modifiers[0] == "p"

        def execute(thread: Thread) -> None:
            surface = self._known(handle(thread), ReferenceSurface, shape)
            given = [read(thread) for read in points]
            layer = given.pop(0) if shape.startswith("a") else 0
            index = [signed(g, 32) for g in given]
            texel = surface.image.texel_bytes
            if not by_sample:
                at = surface.place(layer, index, size * count, clamp)
            elif s.opcode == "sured":
                at = surface.place(layer, index, size, clamp, unit=size)
            else:
                at = surface.place(layer, index, texel, clamp, unit=texel)
            act(thread, surface.image, at)

        return step(execute)

    def _load(
        self, s: Statement, name: str, size: int, names: list[str]
    ) -> Callable[[Thread, Image, int | None], None]:
        writes = [self.writer(n, name) for n in names]

        def act(thread: Thread, image: Image, at: int | None) -> None:
            for i, write in enumerate(writes):
                piece = image.data[at + i * size : at + (i + 1) * size] if at is not None else b""
                write(thread, int.from_bytes(piece, "little"))

        return act

    def _store(
        self, s: Statement, name: str, size: int, names: list[str]
    ) -> Callable[[Thread, Image, int | None], None]:
        reads = [self.reader(n, name) for n in names]

        def act(thread: Thread, image: Image, at: int | None) -> None:
            if at is None:
                return
            if s.modifiers[0] == "p":
                _put(image, at, [read(thread) for read in reads])
                return
            for i, read in enumerate(reads):
                image.data[at + i * size : at + (i + 1) * size] = read(thread).to_bytes(size, "little")

        return act

    def _reduce(
        self, s: Statement, name: str, size: int, names: list[str]
    ) -> Callable[[Thread, Image, int | None], None]:
        read: Read = self.reader(names[0], name)
        combine = ATOMICS[s.modifiers[1]]

        def act(thread: Thread, image: Image, at: int | None) -> None:
            if at is None:
                return
            type_ = name
            if name[0] == "b" and s.modifiers[0] == "p":
                type_ = ("s" if image.dtype.kind == "i" else "u") + name[1:]
            old = int.from_bytes(image.data[at : at + size], "little")
            new = combine(type_, old, read(thread)) & mask(8 * size)
            image.data[at : at + size] = new.to_bytes(size, "little")

        return act

    def query(self, s: Statement) -> Execute:
        """``txq`` and ``suq`` of extents."""
        name = s.operands[1].strip()[1:-1].strip()
        handle, write = self.reader(name, "b64"), self.writer(s.operands[0], "b32")
        axis = {"width": 0, "height": 1, "depth": 2}[next(m for m in s.modifiers if m in ("width", "height", "depth"))]

        def execute(thread: Thread) -> None:
            extents: Sequence[int] = (*self.places.textures[handle(thread)].image.extents, 1, 1)
            write(thread, extents[axis])

        return step(execute)


def _layers(image: Image) -> int:
    return image.layers // 6 if "cube" in image.kind else image.layers


def _half(bits: int) -> int:
    with np.errstate(all="ignore"):
        half = int(np.float16(single(bits)).view(np.uint16))
    return half if half & 0x7C00 != 0x7C00 or not half & 0x3FF else 0x7FFF


def _put(image: Image, at: int, numbers: list[int]) -> None:
    """A formatted store: integers as near as the format allows, floats rounded."""
    size, kind = image.dtype.itemsize, image.dtype.kind
    for channel, bits in enumerate(numbers[: image.channels]):
        if kind == "f":
            content = _half(bits) if size == 2 else bits
        else:
            low, high = (0, mask(8 * size)) if kind == "u" else (-(1 << 8 * size - 1), mask(8 * size - 1))
            content = min(max(value("s" if kind == "i" else "u", 32, bits), low), high) & mask(8 * size)
        image.data[at + channel * size : at + (channel + 1) * size] = content.to_bytes(size, "little")


__all__ = ["TextureStatements", "pattern"]
