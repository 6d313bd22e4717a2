"""The recorded addresses of memory instructions: a stream of 32-bit words, one record per executed memory instruction.

Records are in execution order, so the recorded path determines the instruction of each: loads, stores, atomics, texture
fetches and surface accesses (not queries) have one each.  The record of a fetch has the lower left texel if several are
filtered, and the texture's first texel if the lane reads none; its access size counts as 1.

The first word of a record has the kind in bits 0-1, bit 2 if a word with the mask of active lanes follows (only guarded
instructions, and only when it differs from the instruction's last record; otherwise the mask is the block's), and a
signed payload in bits 3-31.  *Base* is the address of lane 0 in an affine record (whether or not lane 0 is active) and
of the first active lane in others; each instruction keeps the base and stride of its last record, both 0 at first.
Addresses wrap at 64 bits.  An instruction that no lane executes repeats its last base and stride.

    AFFINE_STEP   base = last base + payload, stride = last stride
    AFFINE        two words of base, one word of stride (signed)
    STEPS         base = last base + payload; one signed 16-bit step per active lane from the one before, in units of
                  the access size, the first one 0; padded with 0 to a whole word
    EACH          payload 1: one word of address per active lane; payload 0: two
"""

from __future__ import annotations

import enum


class Kind(enum.IntEnum):
    """Low two bits of a record's first word."""

    AFFINE_STEP = 0
    AFFINE = 1
    STEPS = 2
    EACH = 3


MASK_FOLLOWS = 4
PAYLOAD_SHIFT = 3
PAYLOAD_BITS = 29
