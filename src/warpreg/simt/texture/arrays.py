"""An array as a texture or surface: its extents, channels and format, and the validity checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from warpreg.ir.errors import WarpregError
from warpreg.simt.texture.state import ADDRESS_MODES, FILTERS, KINDS, Format

Kind = Literal["1d", "2d", "3d", "1d-layered", "2d-layered", "cube", "cube-layered"]
Address = Literal["wrap", "mirror", "clamp", "border"]
Filter = Literal["point", "linear"]
Read = Literal["element", "normalized"]

AXES = {
    "1d": ("x",),
    "2d": ("y", "x"),
    "3d": ("z", "y", "x"),
    "1d-layered": ("layer", "x"),
    "2d-layered": ("layer", "y", "x"),
    "cube": ("face", "y", "x"),
    "cube-layered": ("layer and face", "y", "x"),
}
"""The axes of an array by kind, without the channel axis."""

FORMATS = {
    "uint8": (Format.UNSIGNED8, Format.UNORM8),
    "int8": (Format.SIGNED8, Format.SNORM8),
    "uint16": (Format.UNSIGNED16, Format.UNORM16),
    "int16": (Format.SIGNED16, Format.SNORM16),
    "uint32": (Format.UNSIGNED32, None),
    "int32": (Format.SIGNED32, None),
    "float16": (Format.HALF, None),
    "float32": (Format.FLOAT, None),
}
"""Formats of an element type: read unchanged, and as a normalized number."""

MAX_BYTES = 1 << 31


class TextureError(WarpregError):
    """An array or an option that is not valid for a texture or surface."""


@dataclass(frozen=True)
class Layout:
    """An array as texels: ``layers`` counts faces too, and is 1 without layers."""

    kind: str
    width: int
    height: int
    depth: int
    layers: int
    channels: int
    format: Format
    texel_bytes: int

    @property
    def extents(self) -> tuple[int, int, int]:
        return self.width, self.height, self.depth

    @staticmethod
    def of(shape: Sequence[int], dtype: np.dtype[Any], kind: str, read: str = "element") -> Layout:
        """Raises TextureError that names the invalid property."""
        if kind not in AXES:
            raise TextureError(f"texture kind '{kind}': expected one of {', '.join(KINDS[1:])}")
        axes = AXES[kind]
        channels = shape[-1] if len(shape) == len(axes) + 1 else 1
        if len(shape) not in (len(axes), len(axes) + 1) or channels not in (1, 2, 4):
            named = ", ".join(axes)
            raise TextureError(f"a {kind} texture: expected axes ({named}) and 1, 2 or 4 channels, found {list(shape)}")
        if min(shape) == 0:
            raise TextureError(f"a {kind} texture: expected a texel at least, found {list(shape)}")
        extent = dict(zip(axes, shape, strict=False))
        layers = next((n for axis, n in extent.items() if axis not in "xyz"), 1)
        width, height = extent["x"], extent.get("y", 1)
        if kind.startswith("cube") and (width != height or layers % 6 or (kind == "cube" and layers != 6)):
            faces = "6" if kind == "cube" else "a multiple of 6"
            raise TextureError(f"a {kind} texture: expected {faces} square faces, found {list(shape)}")
        if np.prod(shape, dtype=np.int64) * dtype.itemsize >= MAX_BYTES:
            raise TextureError(f"a {kind} texture: expected less than 2 GiB, found {list(shape)} of {dtype}")
        format_ = _format(dtype, read)
        return Layout(kind, width, height, extent.get("z", 1), layers, channels, format_, channels * dtype.itemsize)


def _format(dtype: np.dtype[Any], read: str) -> Format:
    if dtype.name not in FORMATS or not dtype.isnative:
        raise TextureError(f"a texture of {dtype}: expected elements of {', '.join(FORMATS)}")
    if read not in ("element", "normalized"):
        raise TextureError(f"texture read '{read}': expected element or normalized")
    plain, normalized = FORMATS[dtype.name]
    if read == "normalized" and normalized is None:
        raise TextureError(f"a texture of {dtype}: only integers of 8 and 16 bits are read as normalized numbers")
    return normalized if read == "normalized" and normalized is not None else plain


@dataclass(frozen=True)
class Sampling:
    """Sampling options: an address mode per dimension, a filter, and whether coordinates are normalized to 0 to 1."""

    address: tuple[str, str, str]
    filter: str
    normalized: bool

    @staticmethod
    def of(address: str | Sequence[str], filter_: str, normalized: bool) -> Sampling:
        """``address`` is one mode for all dimensions, or one per dimension, x first.  Raises TextureError."""
        given = (address,) if isinstance(address, str) else tuple(address)
        for mode in given:
            if mode not in ADDRESS_MODES:
                raise TextureError(f"texture address '{mode}': expected one of {', '.join(ADDRESS_MODES)}")
        if not 1 <= len(given) <= 3:
            raise TextureError(f"texture address {list(given)}: expected one to three modes")
        if filter_ not in FILTERS:
            raise TextureError(f"texture filter '{filter_}': expected one of {', '.join(FILTERS)}")
        x, y, z = (*given, given[-1], given[-1])[:3]
        return Sampling((x, y, z), filter_, normalized)


def check_levels(levels: Sequence[Layout], sampling: Sampling) -> None:
    """Raises TextureError unless each level has half the extents of the one before and the same format."""
    if not sampling.normalized and not levels[0].kind.startswith("cube"):
        raise TextureError("a texture with several levels: expected normalized coordinates")
    for larger, smaller in pairwise(levels):
        x, y, z = (max(1, n >> 1) for n in larger.extents)
        if smaller != replace(larger, width=x, height=y, depth=z):
            raise TextureError(
                f"a level of {smaller.channels} {smaller.format.name} channels and extents {smaller.extents}: expected "
                f"{larger.channels} {larger.format.name} and {(x, y, z)}, half of the level before"
            )
