"""Textures and surfaces texel by texel, as the CUDA C++ Programming Guide ("Texture Memory", "Texture Fetching",
"Cubemap Textures") and the PTX ISA describe them.

Steps in single precision on the hardware are so here: the scaling of a coordinate, the shift by half a texel, and the
products and sums of a linear filter, x fastest.  The rest is exact.
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
        missing = [0, 0, 0, pattern(1.0) if self.is_float else 1]
        return found + missing[len(found) :]

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
        return index % extent if mode == "wrap" else min(max(index, 0), extent - 1)

    def position(self, axis: int, x: Any, shift: int = 0) -> Any:
        """A coordinate in texels (f32), brought into range unless there is a border; not finite if far outside one."""
        extent, mode = F(self.image.extents[axis]), self.mode(axis)
        scale = extent if self.normalized else F(1)
        if shift:
            x = x + F(shift) / scale
        if mode in ("wrap", "mirror"):
            below = np.floor(x)
            inside = x - below
            x = F(1) - inside if mode == "mirror" and below % 2 == 1 else inside
        x = x * scale
        if mode == "border":
            return F(-np.inf) if np.isnan(x) else x
        if not x > 0:
            return F(0)
        return x if x < extent else np.nextafter(extent, F(0))

    def whole(self, layer: int, index: Sequence[int]) -> list[int]:
        """Integer coordinates count texels; wrap and mirror do not apply to them."""
        texels: list[int | None] = []
        for axis, i in enumerate(index):
            last = self.image.extents[axis] - 1
            inside = 0 <= i <= last
            texels.append(i if inside else None if self.address[axis] == "border" else min(max(i, 0), last))
        return self.texel(layer, texels)

    def sample(self, layer: int, point: Sequence[Any], shifts: Sequence[int] = ()) -> list[int]:
        """One texel, or a mean of those around."""
        places = [self.position(a, x, shifts[a] if shifts else 0) for a, x in enumerate(point)]
        if self.filter == "linear" and self.is_float:
            return self._mean(layer, places)
        return self.texel(layer, [self._at(axis, p) for axis, p in enumerate(places)])

    def _at(self, axis: int, place: Any) -> int | None:
        if not math.isfinite(place):
            return None
        return self.neighbour(axis, math.floor(place))

    def around(self, axis: int, place: Any) -> tuple[int | None, int | None, Fraction]:
        """The two texels that a position lies between, and the weight of the second in 256ths."""
        centre = place - F(0.5)
        if not math.isfinite(centre):
            return None, None, Fraction(0)
        below = math.floor(centre)
        return (
            self.neighbour(axis, below),
            self.neighbour(axis, below + 1),
            Fraction(round(256 * (Fraction(float(centre)) - below)), 256),
        )

    def _mean(self, layer: int, places: Sequence[Any]) -> list[int]:
        ends = [self.around(axis, place) for axis, place in enumerate(places)]
        totals: list[Any] = []
        for corner in range(2 ** len(ends)):
            weight, index = Fraction(1), []
            for axis, (low, high, upper) in enumerate(ends):
                takes_upper = corner >> axis & 1
                weight *= upper if takes_upper else 1 - upper
                index.append(high if takes_upper else low)
            terms = [F(float(weight)) * single(bits) for bits in self.texel(layer, index)]
            totals = terms if not totals else [a + b for a, b in zip(totals, terms, strict=True)]
        return [pattern(total) for total in totals]

    def footprint(self, layer: int, point: Sequence[Any], channel: int, shifts: Sequence[int] = ()) -> list[int]:
        """A channel of the four texels of a linear filter: lower left, lower right, upper right, upper left."""
        places = [self.position(a, x, shifts[a] if shifts else 0) for a, x in enumerate(point)]
        (left, right, _), (upper, lower, _) = (self.around(axis, place) for axis, place in enumerate(places))
        square = [(left, lower), (right, lower), (right, upper), (left, upper)]
        return [self.texel(layer, index)[channel] for index in square]


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
