"""Textures and surfaces texel by texel, as the CUDA C++ Programming Guide ("Texture Memory", "Texture Fetching",
"Cubemap Textures") and the PTX ISA describe them, and as an H100 was seen to sample: weights are whole 256ths, address
modes act on the indices of texels, and a mean is rounded once, in the precision of the format.

The scaling of a coordinate and the sum of an offset are in single precision; the rest is exact, but for the sum of a
filter, which is in double precision, x fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from tests.reference.memory import ReferenceFault

F = np.float32
LAYERS = ("1d-layered", "2d-layered", "cube", "cube-layered")


def pattern(number: Any) -> int:
    """The bits of a single-precision number."""
    return int(F(number).view(np.uint32))


def single(bits: int) -> Any:
    return np.uint32(bits & 0xFFFFFFFF).view(F)


@dataclass
class Image:
    """Texels in a buffer: axes as NumPy has them, (layer, z, y, x), then channels."""

    data: bytearray
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    kind: str

    def __post_init__(self) -> None:
        axes = {"1d": 1, "2d": 2, "3d": 3, "1d-layered": 2, "2d-layered": 3, "cube": 3, "cube-layered": 3}[self.kind]
        self.channels = self.shape[axes] if len(self.shape) > axes else 1
        extents = self.shape[:axes]
        self.layers = extents[0] if self.kind in LAYERS else 1
        inner = extents[1:] if self.kind in LAYERS else extents
        self.extents = tuple(reversed(inner))
        """Texels in x, y and z."""

    @property
    def texel_bytes(self) -> int:
        return self.channels * self.dtype.itemsize

    def offset(self, layer: int, index: Sequence[int]) -> int:
        """Where a texel begins, in bytes."""
        place = layer
        for extent, i in zip(reversed(self.extents), reversed(list(index)), strict=True):
            place = place * extent + i
        return place * self.texel_bytes

    def values(self, layer: int, index: Sequence[int]) -> list[Any]:
        at = self.offset(layer, index)
        return list(np.frombuffer(bytes(self.data[at : at + self.texel_bytes]), self.dtype))


@dataclass
class ReferenceTexture:
    """An image and how it is read; ``address`` has a mode for each dimension, x first."""

    image: Image
    address: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    filter: str = "point"
    normalized: bool = False
    read: str = "element"

    @property
    def is_float(self) -> bool:
        return self.read == "normalized" or self.image.dtype.kind == "f"

    def texel(self, layer: int, index: Sequence[int | None]) -> list[int]:
        """The four channels as 32-bit patterns; a texel that is not there is black and transparent."""
        if any(i is None for i in index):
            return [0, 0, 0, 0]
        found = [self._channel(v) for v in self.image.values(layer, [i for i in index if i is not None])]
        return [*found, 0, 0, 0][:4]

    def _channel(self, value: Any) -> int:
        if self.read == "normalized":
            kind, bits = self.image.dtype.kind, 8 * self.image.dtype.itemsize
            largest = 2**bits - 1 if kind == "u" else 2 ** (bits - 1) - 1
            return pattern(float(max(Fraction(int(value), largest), Fraction(-1))))
        return pattern(value) if self.image.dtype.kind == "f" else int(value) % 2**32

    def mode(self, axis: int) -> str:
        """Wrap and mirror need normalized coordinates."""
        mode = self.address[axis]
        return mode if self.normalized or mode not in ("wrap", "mirror") else "clamp"

    def neighbour(self, axis: int, index: int) -> int | None:
        """The texel that stands for an index, which may lie outside; None for the border."""
        extent, mode = self.image.extents[axis], self.mode(axis)
        if 0 <= index < extent:
            return index
        if mode == "border":
            return None
        if mode == "mirror":
            return min(index % (2 * extent), 2 * extent - 1 - index % (2 * extent))
        return index % extent if mode == "wrap" else min(max(index, 0), extent - 1)

    def position(self, axis: int, x: Any, shift: int = 0) -> Any:
        """A coordinate in texels (f32); two texels outside if it is further outside and does not repeat."""
        extent, mode = F(self.image.extents[axis]), self.mode(axis)
        scale = extent if self.normalized else F(1)
        place = x * scale + F(shift)
        if mode in ("wrap", "mirror"):
            if not abs(place) < 2**20:
                place = (x - 2 * np.floor(x * F(0.5))) * scale + F(shift)
            return F(0) if np.isnan(place) else place
        return F(-2) if not place > -2 else min(place, extent + F(2))

    def whole(self, layer: int, index: Sequence[int]) -> list[int]:
        """Integer coordinates count texels; outside, nothing is read in any mode."""
        inside = all(0 <= i < extent for i, extent in zip(index, self.image.extents, strict=True))
        return self.texel(layer, list(index) if inside and layer < self.image.layers else [None])

    def sample(self, layer: int, point: Sequence[Any], shifts: Sequence[int] = ()) -> list[int]:
        """One texel, or a mean of those around."""
        places = [self.position(a, x, shifts[a] if shifts else 0) for a, x in enumerate(point)]
        if self.filter == "linear" and self.is_float:
            return self._mean(layer, places)
        return self.texel(layer, [self.neighbour(axis, math.floor(p)) for axis, p in enumerate(places)])

    def around(self, axis: int, place: Any) -> tuple[int | None, int | None, int]:
        """The two texels that a position lies between, and the weight of the second in 256ths."""
        below, upper = divmod(round(256 * Fraction(float(place))) - 128, 256)
        if self.mode(axis) == "clamp" and not 0 <= below < self.image.extents[axis] - 1:
            upper = 0
        return self.neighbour(axis, below), self.neighbour(axis, below + 1), upper

    def _mean(self, layer: int, places: Sequence[Any]) -> list[int]:
        weights: list[tuple[list[int | None], int]] = [([], 256)]
        for axis, place in enumerate(places):
            low, high, upper = self.around(axis, place)
            parts = [(index, weight, round(Fraction(weight * upper, 256))) for index, weight in weights]
            weights = [([*index, low], weight - part) for index, weight, part in parts]
            weights += [([*index, high], part) for index, _, part in parts]
        texels = [[self._counted(bits) for bits in self.texel(layer, index)] for index, _ in weights]
        totals = [np.float64(0.0)] * 4
        for counts, (_, weight) in zip(texels, weights, strict=True):
            terms = [np.float64(weight) * np.float64(count) for count in counts]
            totals = terms if counts is texels[0] else [a + b for a, b in zip(totals, terms, strict=True)]
        return [self._rounded(total / 256) for total in totals]

    @property
    def _form(self) -> str:
        return f"{self.image.dtype.kind}{8 * self.image.dtype.itemsize}"

    def _counted(self, bits: int) -> Any:
        """A texel's channel as it is averaged: normalized integers are counts."""
        largest = {"u8": 65535, "u16": 65535, "i16": 32767, "i8": 127}.get(self._form)
        return single(bits) if largest is None else round(Fraction(float(single(bits))) * largest)

    def _rounded(self, mean: np.float64) -> int:
        if self._form == "i8":
            mean = mean * (258 + 1 / 128)
        if self.image.dtype.kind in "ui":
            return pattern(F(math.floor(mean + 0.5)) / F(65535 if self.image.dtype.kind == "u" else 32767))
        if not np.isfinite(mean):
            return pattern(F(mean))
        digits, least = (11, -14) if self._form == "f16" else (24, -126)
        exponent = max(math.frexp(mean)[1] - 1, least) - digits + 1
        steps = math.floor(abs(Fraction(float(mean))) / Fraction(2) ** exponent + Fraction(1, 2))
        return pattern(math.copysign(float(steps * Fraction(2) ** exponent), mean))

    def footprint(self, layer: int, point: Sequence[Any], channel: int, shifts: Sequence[int] = ()) -> list[int]:
        """A channel of the four texels of a linear filter: lower left, lower right, upper right, upper left."""
        places = [self.position(a, x, shifts[a] if shifts else 0) for a, x in enumerate(point)]
        (left, right, _), (upper, lower, _) = (self.around(axis, place) for axis, place in enumerate(places))
        square = [(left, lower), (right, lower), (right, upper), (left, upper)]
        found = [self.texel(layer, index)[channel] for index in square]
        if self._form == "i8" and self.read == "normalized":
            counts = [round(Fraction(float(single(bits))) * 127) for bits in found]
            return [pattern(F(math.floor(count * (258 + 1 / 128) + 0.5)) / F(32767)) for count in counts]
        return found


def cube_face(x: Any, y: Any, z: Any) -> tuple[int, list[Any]]:
    """The face that a direction points to and the normalized place on it; the first largest magnitude decides."""
    sizes = [abs(v) for v in (x, y, z)]
    if sizes[0] >= sizes[1] and sizes[0] >= sizes[2]:
        face, m, s, t = (1, -x, z, -y) if np.signbit(x) else (0, x, -z, -y)
    elif sizes[1] >= sizes[2]:
        face, m, s, t = (3, -y, x, -z) if np.signbit(y) else (2, y, x, z)
    else:
        face, m, s, t = (5, -z, -x, -y) if np.signbit(z) else (4, z, x, -y)
    return face, [(s / m + F(1)) * F(0.5), (t / m + F(1)) * F(0.5)]


@dataclass
class ReferenceSurface:
    """An image accessed by bytes."""

    image: Image

    def place(
        self, layer: int, coordinates: Sequence[int], size: int, clamp: str, unit: int = 1, units: int = 0
    ) -> int | None:
        """Where an access of ``size`` bytes begins; None where it is dropped. The first coordinate counts ``unit``
        bytes and has ``units`` values, or any that leave room in the row.
        """
        image = self.image
        row = image.extents[0] * image.texel_bytes
        limits = [units or (row - size) // unit + 1, *image.extents[1:]]
        faces = image.layers
        wanted = [*coordinates, layer]
        limits.append(faces)
        if limits[0] < 1:
            if clamp == "zero":
                return None
            raise ReferenceFault("the access is wider than the surface")
        if any(not 0 <= c < limit for c, limit in zip(wanted, limits, strict=True)):
            if clamp == "zero":
                return None
            if clamp == "trap":
                raise ReferenceFault("outside the surface")
        x, *rest = [min(max(c, 0), limit - 1) for c, limit in zip(wanted, limits, strict=True)]
        x *= unit
        if clamp == "clamp" and unit == 1:
            x -= x % size
        elif x % size and unit == 1:
            raise ReferenceFault("misaligned")
        return image.offset(rest[-1], [0, *rest[:-1]]) + x
