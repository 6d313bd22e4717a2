"""Pairs in one register: f16x2, bf16x2, f32x2, u16x2, s16x2.  An instruction on a pair acts on each element."""

from __future__ import annotations

from tests.reference.instruction import Pure, kind_and_bits
from tests.reference.number import mask


def lifted(one: Pure, name: str) -> Pure:
    """The instruction ``one`` of a single element on pairs of type ``name``."""
    bits = kind_and_bits(name)[1] // 2

    def run(*operands: int) -> int:
        low, high = (one.function(*(a >> at & mask(bits) for a in operands)) for at in (0, bits))
        return int(low | high << bits)

    return Pure(name, (name,) * len(one.sources), run)
