"""Address records of a run as the words of a trace: mask, mode and addresses."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.trace.addresses import MASK_FOLLOWS, OFFSETS_BITS, PAYLOAD_SHIFT, Kind, Offsets

LANES = 32
WRAP = (1 << 64) - 1
NO_LANES = "1 0x0 0"


class Records:
    """Reads records in order; `next` returns one as text of a line.

    ``shared_base`` and ``local_base`` are generic addresses that replace those of the executor's windows.  Raises
    StopIteration at the end of the records.
    """

    def __init__(self, chunks: Iterable[NDArray[np.uint32]], shared_base: int, local_base: int) -> None:
        self._words = (int(word) for chunk in chunks for word in chunk.tolist())
        self._bases = {SHARED_WINDOW: shared_base, LOCAL_WINDOW: local_base}
        self._sites: dict[int, list[int]] = {}

    def next(self, pc: int, mask: int, unit: int, guarded: bool) -> tuple[int, str]:
        """The mask and the encoded addresses of the next record, which belongs to the instruction at ``pc``; ``mask``
        are the active lanes of its block, ``unit`` the unit of steps in bytes."""
        words = self._words
        site = self._sites.setdefault(pc, [0, 0, 0])
        head = next(words)
        if head & MASK_FOLLOWS:
            site[2] = next(words)
        if guarded:
            mask = site[2]
        kind, payload = head & 3, (head >> PAYLOAD_SHIFT) - (head >> 31 << 29)
        lanes = [lane for lane in range(LANES) if mask >> lane & 1]
        if kind in (Kind.AFFINE, Kind.AFFINE_STEP):
            if kind == Kind.AFFINE:
                site[0] = next(words) | next(words) << 32
                site[1] = _signed_word(next(words))
            else:
                site[0] += payload
            return mask, self._affine(lanes, site[0], site[1])
        if kind == Kind.OFFSETS:
            site[0] += payload >> OFFSETS_BITS
            if payload & 3 == Offsets.RAMP:
                return mask, self._affine(lanes, site[0], _signed_word(next(words)))
            offsets = self._offsets(len(lanes), 8 if payload & 3 == Offsets.BYTES else 16)
            distances = [unit * (b - a) for a, b in pairwise(offsets)]
            return mask, self._listed(site[0] + unit * offsets[0], distances)
        found = [next(words) if payload & 1 else next(words) | next(words) << 32 for _ in lanes]
        site[0] = found[0]
        return mask, self._listed(found[0], [b - a for a, b in pairwise(found)])

    def _offsets(self, lanes: int, bits: int) -> list[int]:
        """The offsets of active lanes, in units."""
        if lanes == 1:
            return [0]
        words = [next(self._words) for _ in range(-(-lanes * bits // 32))]
        return [word >> shift & (1 << bits) - 1 for word in words for shift in range(0, 32, bits)][:lanes]

    def _affine(self, lanes: list[int], base: int, stride: int) -> str:
        if not lanes:
            return NO_LANES
        first = base + lanes[0] * stride
        if len(lanes) > 1 and lanes[-1] - lanes[0] == len(lanes) - 1:
            return f"1 {self._placed(first):#x} {stride}"
        return self._listed(first, [stride * (b - a) for a, b in pairwise(lanes)])

    def _listed(self, first: int, distances: list[int]) -> str:
        return " ".join([f"2 {self._placed(first):#x}", *(str(_signed(one)) for one in distances)])

    def _placed(self, address: int) -> int:
        address &= WRAP
        for window, base in self._bases.items():
            if window <= address < window + WINDOW_BYTES:
                return address - window + base
        return address


def _signed_word(word: int) -> int:
    """A word of 32 bits with a sign."""
    return word - (word >> 31 << 32)


def _signed(distance: int) -> int:
    """A distance between addresses of 64 bits, which wrap around."""
    return (distance + (1 << 63)) % (1 << 64) - (1 << 63)
