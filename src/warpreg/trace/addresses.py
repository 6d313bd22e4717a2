"""The recorded addresses of memory instructions: a stream of 32-bit words, one record per executed memory instruction.

Records are in execution order, so the recorded path determines the instruction of each: loads, stores, atomics, texture
fetches and surface accesses (not queries) have one each.  The record of a fetch has the lower left texel if several are
filtered, and the texture's first texel if the lane reads none; its access size counts as 1.

The first word of a record has the kind in bits 0-1, bit 2 if a word with the mask of active lanes follows (only guarded
instructions, and only when it differs from the instruction's last record; otherwise the mask is the block's), and a
signed payload in bits 3-31.  Each instruction keeps the base and stride of its last record, both 0 at first.  Addresses
wrap at 64 bits.  An instruction that no lane executes repeats its last base and stride.

    AFFINE_STEP   base = last base + payload, stride = last stride: the address of lane 0, active or not, and the
                  distance from lane to lane
    AFFINE        the same with two words of base, one word of stride (signed)
    OFFSETS       base = last base + payload >> 2; the low two bits of the payload are one of `Offsets`
        BYTES     base is the lowest address; one offset of 8 bits per active lane, in units of the access size, padded
                  with 0 to a whole word; a single active lane has none
        HALVES    the same with 16 bits
        RAMP      base is that of lane 0, one word of stride, which is not kept
    EACH          payload 1: one word of address per active lane; payload 0: two; base = that of the first active lane

A timing run calls AFFINE_STEP and AFFINE *regular*.  Lanes that have such addresses only because others are not active
are not: RAMP stands for offsets of 32 bits of which those of inactive lanes would be below 0 or beyond the last one.
"""

from __future__ import annotations

import enum


class Kind(enum.IntEnum):
    """Low two bits of a record's first word."""

    AFFINE_STEP = 0
    AFFINE = 1
    OFFSETS = 2
    EACH = 3


class Offsets(enum.IntEnum):
    """Low two bits of the payload of OFFSETS."""

    BYTES = 0
    HALVES = 1
    RAMP = 2


MASK_FOLLOWS = 4
PAYLOAD_SHIFT = 3
PAYLOAD_BITS = 29
OFFSETS_BITS = 2
"""Bits of `Offsets`."""
