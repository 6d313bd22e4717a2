"""radix-sort: a stable sort of keys with values by digits of four bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Buffer, Device, Size, Workload, blocks

THREADS = 256
BLOCK_ELEMENTS = 4 * THREADS
HALF_BLOCK = 2 * THREADS
DIGIT_BITS = 4
DIGITS = 1 << DIGIT_BITS


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``keys``: uint32[n] of ``bits`` bits, ``values``: uint32[n], their positions."""
    keys = rng.integers(0, 1 << size["bits"], size["n"], dtype=np.uint32)
    return {"keys": keys, "values": np.arange(size["n"], dtype=np.uint32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A pass for each four bits; ``keys`` and ``values``: uint32[n]. ``n`` is a multiple of 1024, below 2^25."""
    n = size["n"]
    half_blocks = n // HALF_BLOCK
    now = device.upload(inputs["keys"]), device.upload(inputs["values"])
    later = device.zeros(n, np.uint32), device.zeros(n, np.uint32)
    counts, starts = (device.zeros(DIGITS * half_blocks, np.uint32) for _ in range(2))
    sums = device.zeros(BLOCK_ELEMENTS, np.uint32)
    for bit in range(0, size["bits"], DIGIT_BITS):
        device.launch("sort_blocks", n // BLOCK_ELEMENTS, THREADS, *later, *now, bit)
        device.launch("find_digits", half_blocks, THREADS, later[0], counts, starts, bit, half_blocks)
        _scan(device, counts, sums, DIGITS * half_blocks)
        device.launch("reorder", half_blocks, THREADS, *now, *later, starts, counts, bit, half_blocks)
    return {"keys": now[0].download(), "values": now[1].download()}


def _scan(device: Device, counts: Buffer, sums: Buffer, n: int) -> None:
    grid = blocks(n, BLOCK_ELEMENTS)
    device.launch("scan_counts", grid, THREADS, counts, sums, n)
    if grid > 1:
        device.launch("scan_counts", 1, THREADS, sums, 0, BLOCK_ELEMENTS)
        device.launch("add_block_sums", grid, THREADS, counts, sums, n)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's stable sort."""
    order = np.argsort(inputs["keys"], kind="stable")
    return {name: inputs[name][order] for name in ("keys", "values")}


WORKLOAD = Workload(
    name="radix-sort",
    title="Radix sort",
    description=(
        "Keys with values, sorted stably by four bits a pass. As in the SDK's sample, blocks of 256 threads with four"
        " elements each sort by one bit after the other: warp-wide scans in shared memory give each element its rank,"
        " keys and then values are exchanged through shared memory. Half-blocks find where digits begin, a scan of all"
        " counts gives their places, and a last kernel copies runs of equal digits there. Vectors of four keys, four"
        " values and four ranks live through chains of barriers; sums and predicates are read at once."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "vector-loads", "divergence", "several-launches"),
    papers=("regmutex",),
    differences=(
        "RegMutex (Table 4.1) counts 33 registers a thread; here ptxas gives the sorting of blocks, the hungriest"
        " kernel, 29 for sm_75."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"n": 71 * BLOCK_ELEMENTS, "bits": 8},
        "small": {"n": 1344 * BLOCK_ELEMENTS, "bits": 8},
        "full": {"n": 4096 * BLOCK_ELEMENTS, "bits": 32},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
