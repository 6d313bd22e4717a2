"""sorting-networks: bitonic sort and odd-even merge sort of keys with values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Workload

SHARED_SIZE = 1024
"""Elements of a network in shared memory."""

MERGE_BLOCK = 256
UP = 1
"""Ascending order."""

Pair = tuple[Buffer, Buffer]
"""Keys and values."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``keys`` and ``values``: uint32[arrays, length]; each key occurs once in its array, values are positions."""
    arrays, length = size["arrays"], size["length"]
    keys = rng.permuted(np.tile(np.arange(length, dtype=np.uint32), (arrays, 1)), axis=1)
    values = np.arange(arrays * length, dtype=np.uint32).reshape(arrays, length)
    return {"keys": keys, "values": values}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Both networks on the same input, the bitonic one also on it as arrays of 1024; all uint32 of its shape."""
    shape = inputs["keys"].shape
    total = size["arrays"] * size["length"]
    outputs: dict[str, Array] = {}
    for name, sort, length in (
        ("short", _bitonic, SHARED_SIZE),
        ("bitonic", _bitonic, size["length"]),
        ("odd_even", _odd_even, size["length"]),
    ):
        given = (device.upload(inputs["keys"]), device.upload(inputs["values"]))
        target = (device.zeros(shape, np.uint32), device.zeros(shape, np.uint32))
        sort(device, target, given, total, length)
        outputs |= {f"{name}_keys": target[0].download(), f"{name}_values": target[1].download()}
    return outputs


def _bitonic(device: Device, target: Pair, given: Pair, total: int, length: int) -> None:
    shared_grid, shared_block = total // SHARED_SIZE, SHARED_SIZE // 2
    if length <= SHARED_SIZE:
        device.launch("bitonic_sort_shared", shared_grid, shared_block, *target, *given, length, UP)
        return
    device.launch("bitonic_sort_alternating", shared_grid, shared_block, *target, *given)
    size = 2 * SHARED_SIZE
    while size <= length:
        stride = size // 2
        while stride >= SHARED_SIZE:
            arguments = (*target, *target, length, size, stride, UP)
            device.launch("bitonic_merge_global", total // (2 * MERGE_BLOCK), MERGE_BLOCK, *arguments)
            stride //= 2
        device.launch("bitonic_merge_shared", shared_grid, shared_block, *target, *target, length, size, UP)
        size *= 2


def _odd_even(device: Device, target: Pair, given: Pair, total: int, length: int) -> None:
    within = min(length, SHARED_SIZE)
    device.launch("odd_even_sort_shared", total // SHARED_SIZE, SHARED_SIZE // 2, *target, *given, within, UP)
    size = 2 * SHARED_SIZE
    while size <= length:
        stride = size // 2
        while stride > 0:
            arguments = (*target, *target, length, size, stride, UP)
            device.launch("odd_even_merge_global", total // (2 * MERGE_BLOCK), MERGE_BLOCK, *arguments)
            stride //= 2
        size *= 2


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's sort; keys within an array differ, so that the order of the values is known too."""
    keys, values = inputs["keys"], inputs["values"]
    short = _sorted(keys.reshape(-1, SHARED_SIZE), values.reshape(-1, SHARED_SIZE))
    found = {f"short_{what}": array.reshape(keys.shape) for what, array in short.items()}
    for name in ("bitonic", "odd_even"):
        found |= {f"{name}_{what}": array for what, array in _sorted(keys, values).items()}
    return found


def _sorted(keys: Array, values: Array) -> Arrays:
    order = np.argsort(keys, axis=1)
    return {"keys": np.take_along_axis(keys, order, axis=1), "values": np.take_along_axis(values, order, axis=1)}


WORKLOAD = Workload(
    name="sorting-networks",
    title="Sorting networks",
    description=(
        "Keys with values, sorted by a bitonic network and by odd-even merging. Blocks of 512 threads sort 1024"
        " elements in shared memory, a barrier per stage; longer merges go through global memory, a comparator a"
        " thread and a launch per stride, until a stride fits shared memory again. Integer index arithmetic by shifts"
        " and masks, four loads, a predicate, selects and four stores; swaps diverge or become predicated. Values live"
        " for a few instructions."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "divergence", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"arrays": 1, "length": 2048},
        "small": {"arrays": 48, "length": 4096},
        "full": {"arrays": 16, "length": 65536},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
