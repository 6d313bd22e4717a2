"""Huffman codes as JPEG has them: at most 16 bits, canonical, no word of ones only (ITU-T T.81, annexes C and K.2)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from warpreg.workloads.workload import Array

LONGEST = 16


def code_words(counts: Sequence[int]) -> Array:
    """For each symbol its word, shifted left by 8, and its length in bits: uint32, 0 where a symbol does not occur."""
    lengths = code_lengths(counts)
    words = np.zeros(len(counts), np.uint32)
    word, previous = 0, 0
    for symbol in sorted(lengths, key=lambda symbol: (lengths[symbol], symbol)):
        word <<= lengths[symbol] - previous
        previous = lengths[symbol]
        words[symbol] = word << 8 | previous
        word += 1
    return words


def code_lengths(counts: Sequence[int]) -> dict[int, int]:
    """Bits of each symbol that occurs; counts are halved until no word is too long."""
    weights = {symbol: int(count) for symbol, count in enumerate(counts) if count}
    while True:
        lengths = _unlimited_lengths(weights)
        if max(lengths.values(), default=0) <= LONGEST:
            return lengths
        weights = {symbol: (weight + 1) // 2 for symbol, weight in weights.items()}


def _unlimited_lengths(weights: dict[int, int]) -> dict[int, int]:
    """Depths in a Huffman tree; a reserved symbol, the rarest, takes the last of the longest words."""
    reserved = -1
    heap = [(0, 1 << 30, [reserved]), *((weight, symbol, [symbol]) for symbol, weight in weights.items())]
    heapq.heapify(heap)
    lengths = dict.fromkeys([reserved, *weights], 0)
    while len(heap) > 1:
        light, first, some = heapq.heappop(heap)
        heavy, second, others = heapq.heappop(heap)
        for symbol in some + others:
            lengths[symbol] += 1
        heapq.heappush(heap, (light + heavy, min(first, second), some + others))
    del lengths[reserved]
    return lengths
