"""Records of textures, samplers and surfaces for native code, found by their handles.

A handle is `TEXTURE_WINDOW` plus the byte offset of the record in the device's table.  Fields that a kernel can query
(``txq``, ``suq``) are stored as PTX defines them (PTX ISA, "Texture Instructions: txq"); formats are those of OpenCL,
the only ones that PTX names (PTX ISA, "Channel Data Type and Channel Order Fields").
"""

from __future__ import annotations

import enum

RECORD_BYTES = 128


class Field(enum.IntEnum):
    """Byte offset of a field in a record; 32 bits each unless stated otherwise."""

    RESOURCE = 0
    KIND = 4  # position in KINDS, 0 while nothing is bound
    BASE = 8  # 64 bits: device address of the first texel
    WIDTH = 16
    HEIGHT = 20
    DEPTH = 24
    LAYERS = 28  # of an array; 0 otherwise
    TEXEL_SHIFT = 32  # log2 of the bytes of a texel
    ROW = 36  # bytes between rows
    SLICE = 40  # bytes between slices, or between layers
    FORMAT = 44
    ORDER = 48
    CHANNELS = 52
    NORMALIZED = 56
    FILTERABLE = 64  # 1 if a linear filter is allowed
    FILTER = 68
    ADDRESS = 72  # three: one per dimension
    UNNORMALIZED = 84  # of a sampler: 1 if coordinates count texels regardless of the texture
    EXTENT = 88  # three f32: texels in each dimension
    LEVELS = 112  # 0 without smaller ones
    SAMPLES = 116
    LAYOUT = 120
    SMALLER = 124  # byte offset in the table of the next level's record; further levels follow it


class Resource(enum.IntEnum):
    """The kind of object of a handle."""

    TEXTURE = 1
    SAMPLER = 2
    SURFACE = 3


KINDS = ("nothing", "1d", "2d", "3d", "1d-layered", "2d-layered", "cube", "cube-layered")
"""Kinds that can be created in Python; `GEOMETRIES` has the names in PTX."""

GEOMETRIES = ("", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube")

ADDRESS_MODES = {"wrap": 0, "mirror": 1, "clamp": 3, "border": 4}
FILTERS = {"point": 0, "linear": 1}

WRAP, MIRROR, BORDER = 0, 1, 4


class Format(enum.IntEnum):
    """The encoding of a channel."""

    SNORM8 = 0x10D0
    SNORM16 = 0x10D1
    UNORM8 = 0x10D2
    UNORM16 = 0x10D3
    SIGNED8 = 0x10D7
    SIGNED16 = 0x10D8
    SIGNED32 = 0x10D9
    UNSIGNED8 = 0x10DA
    UNSIGNED16 = 0x10DB
    UNSIGNED32 = 0x10DC
    HALF = 0x10DD
    FLOAT = 0x10DE

    @property
    def is_float(self) -> bool:
        """Whether a fetch returns f32 values."""
        return self in (Format.SNORM8, Format.SNORM16, Format.UNORM8, Format.UNORM16, Format.HALF, Format.FLOAT)


ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
"""Channel order by number of channels: R, RG, RGBA."""

QUERIES = {
    "width": Field.WIDTH,
    "height": Field.HEIGHT,
    "depth": Field.DEPTH,
    "channel_data_type": Field.FORMAT,
    "channel_order": Field.ORDER,
    "normalized_coords": Field.NORMALIZED,
    "array_size": Field.LAYERS,
    "num_mipmap_levels": Field.LEVELS,
    "num_samples": Field.SAMPLES,
    "force_unnormalized_coords": Field.UNNORMALIZED,
    "filter_mode": Field.FILTER,
    "addr_mode_0": Field.ADDRESS,
    "addr_mode_1": Field.ADDRESS + 4,
    "addr_mode_2": Field.ADDRESS + 8,
    "memory_layout": Field.LAYOUT,
}
