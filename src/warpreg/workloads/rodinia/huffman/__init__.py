"""huffman: bytes encoded with a Huffman code of their own frequencies, into one stream of bits."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Workload, blocks

SYMBOLS = 256
BLOCK_WORDS = 256
PACK_THREADS, PACKED = 128, 4
"""A block packs a piece of the stream with each of its warps."""
HISTOGRAM_BLOCKS = 32


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: uint8[1024 blocks], of which the symbol of rank r comes with a frequency of 1 / (r + 2)^1.2: some 5.6
    bits a symbol."""
    frequency = 1 / (np.arange(SYMBOLS) + 2) ** 1.2
    ranked = rng.choice(SYMBOLS, size["blocks"] * BLOCK_WORDS * 4, p=frequency / frequency.sum())
    return {"data": rng.permutation(SYMBOLS).astype(np.uint8)[ranked]}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Histogram, encoding, prefix sum and packing; ``counts``: uint32[256], ``stream``: uint32[words]."""
    data, count = inputs["data"], size["blocks"]
    counts, source = device.zeros(SYMBOLS, np.uint32), device.upload(data.view(">u4").astype(np.uint32))
    device.launch("count_bytes", HISTOGRAM_BLOCKS, SYMBOLS, source, count * BLOCK_WORDS, counts)

    table = device.upload(np.stack(code(counts.download()), axis=1))
    pieces, bits = device.zeros(count * BLOCK_WORDS, np.uint32), device.zeros(count, np.uint32)
    device.launch("encode", count, BLOCK_WORDS, source, table, pieces, bits)

    starts = _scanned(device, bits, count, size["scan_threads"])
    total = int(starts.download()[count - 1]) + int(bits.download()[-1])
    stream = device.zeros(blocks(total, 32), np.uint32)
    device.launch("pack", blocks(count, PACKED), PACK_THREADS, pieces, bits, starts, count, stream)
    return {"counts": counts.download(), "stream": stream.download()}


def _scanned(device: Device, numbers: Buffer, count: int, threads: int) -> Buffer:
    """The exclusive prefix sums of ``count`` numbers, uint32, a block of ``threads`` a chunk.

    The sums of several chunks are summed in the same way and added in the end.
    """
    chunks = blocks(count, threads)
    before, sums = device.zeros(count, np.uint32), device.zeros(chunks, np.uint32)
    device.launch("scan_chunks", chunks, threads, numbers, count, before, sums)
    if chunks > 1:
        starts = _scanned(device, sums, chunks, threads)
        device.launch("lift_chunks", chunks - 1, threads, starts, count, before)
    return before


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All code words at once, bit by bit."""
    data = inputs["data"]
    counts = np.bincount(data, minlength=SYMBOLS).astype(np.uint32)
    words, lengths = code(counts)
    word, length = words[data], lengths[data].astype(np.int64)
    start = np.cumsum(length) - length
    bits = np.zeros(blocks(int(length.sum()), 32) * 32, np.uint8)
    for bit in range(int(lengths.max())):
        has = length > bit
        bits[start[has] + bit] = word[has] >> (length[has] - 1 - bit).astype(np.uint32) & 1
    return {"counts": counts, "stream": np.packbits(bits).view(">u4").astype(np.uint32)}


def code(counts: Array) -> tuple[Array, Array]:
    """A Huffman code of the symbols that occur: their words and the lengths of these, both uint32[256].

    The two rarest nodes are joined until one is left; of equal ones those that came first. Left is 0, right is 1.
    """
    words, lengths = np.zeros(SYMBOLS, np.uint32), np.zeros(SYMBOLS, np.uint32)
    nodes = [(int(counts[symbol]), int(symbol), [int(symbol)]) for symbol in np.flatnonzero(counts)]
    if len(nodes) == 1:
        lengths[nodes[0][2]] = 1
    heapq.heapify(nodes)
    for number in range(SYMBOLS, SYMBOLS + len(nodes) - 1):
        (rarest, _, left), (rarer, _, right) = heapq.heappop(nodes), heapq.heappop(nodes)
        words[right] |= np.uint32(1) << lengths[right]
        lengths[left + right] += 1
        heapq.heappush(nodes, (rarest + rarer, number, left + right))
    return words, lengths


WORKLOAD = Workload(
    name="huffman",
    title="Huffman coding",
    description=(
        "Bytes become a stream of bits. A histogram with atomics in shared memory, where each of the four bytes of a"
        " word has counters of its own, goes to the host, which makes the code. Then each thread of a block of 256"
        " looks up the words of four bytes in shared memory and joins them in 64 bits, a prefix sum over the lengths,"
        " by shuffles within warps and a barrier, says where they belong, and up to three atomic ors put them there. A"
        " prefix sum over the blocks, chunk by chunk, and a kernel where a warp shifts and copies the words of a block"
        " pack the blocks. Shifts, masks and divisions by powers of two on short-lived integers."
    ),
    suite="rodinia",
    tags=("integer", "compute", "atomics", "shared-memory", "barriers", "divergence", "several-launches"),
    papers=("rc-rsp",),
    originals=("rodinia/huffman",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"blocks": 37, "scan_threads": 32},
        "small": {"blocks": 1_300, "scan_threads": 256},
        "full": {"blocks": 9_000, "scan_threads": 256},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
