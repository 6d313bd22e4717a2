"""Reading of address records one by one; the layout is that of `warpreg.trace.addresses`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.addresses import MASK_FOLLOWS, OFFSETS_BITS, PAYLOAD_SHIFT, Kind, Offsets


@dataclass
class _Site:
    base: int = 0
    stride: int = 0
    mask: int = 0


@dataclass
class AddressDecoder:
    """Reads records one by one; ``words`` is a chunk of the stream (uint32), ``at`` the index of the next record."""

    words: NDArray[np.uint32]
    at: int = 0
    sites: dict[int, _Site] = field(default_factory=dict)

    def next(self, pc: int, mask: int, size: int, guarded: bool) -> tuple[int, NDArray[np.uint64]]:
        """The mask and the 32 lane addresses (0 in inactive lanes) of the next record.

        ``pc`` is the instruction, ``mask`` its block's active mask, ``size`` its bytes per lane.
        """
        site = self.sites.setdefault(pc, _Site())
        head = self._word()
        if head & MASK_FOLLOWS:
            site.mask = self._word()
        if guarded:
            mask = site.mask
        kind = Kind(head & 3)
        payload = _signed(head, 32) >> PAYLOAD_SHIFT
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        addresses = np.zeros(32, np.uint64)
        if kind in (Kind.AFFINE_STEP, Kind.AFFINE):
            if kind is Kind.AFFINE:
                site.base, site.stride = self._long(), _signed(self._word(), 32)
            else:
                site.base += payload
            for lane in lanes:
                addresses[lane] = (site.base + lane * site.stride) % (1 << 64)
            return mask, addresses
        if kind is Kind.OFFSETS:
            site.base += payload >> OFFSETS_BITS
            for lane, offset in zip(lanes, self._offsets(Offsets(payload & 3), lanes, size), strict=True):
                addresses[lane] = (site.base + offset) % (1 << 64)
            return mask, addresses
        for lane in lanes:
            addresses[lane] = self._word() if payload & 1 else self._long()
        site.base = int(addresses[lanes[0]])
        return mask, addresses

    def _offsets(self, form: Offsets, lanes: list[int], size: int) -> list[int]:
        """The distances of active lanes from the base, in bytes."""
        if form is Offsets.RAMP:
            stride = _signed(self._word(), 32)
            return [lane * stride for lane in lanes]
        if len(lanes) == 1:
            return [0]
        count = -(-len(lanes) // (4 if form is Offsets.BYTES else 2))
        words = self.words[self.at : self.at + count]
        self.at += count
        found = words.view(np.uint8 if form is Offsets.BYTES else np.uint16)[: len(lanes)]
        return [size * int(offset) for offset in found]

    def _word(self) -> int:
        self.at += 1
        return int(self.words[self.at - 1])

    def _long(self) -> int:
        low = self._word()
        return low | self._word() << 32


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number
