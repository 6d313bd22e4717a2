"""fast-walsh-transform: a dyadic convolution by Walsh-Hadamard transforms."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload

ELEMENTARY_LOG2 = 11
"""A block transforms 2^10 or 2^11 elements in shared memory."""

STAGE_BLOCK, MODULATE_GRID, MODULATE_BLOCK = 256, 128, 256


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``data``: float32[2^log2_data] and ``kernel``: float32[2^log2_kernel], uniform in [0, 1)."""
    return {name: rng.random(1 << size[f"log2_{name}"], dtype=np.float32) for name in ("data", "kernel")}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Both sequences transformed, multiplied, and transformed back; ``result``: float32[2^log2_data]."""
    log2_n = size["log2_data"]
    padded = np.zeros(1 << log2_n, np.float32)
    padded[: inputs["kernel"].size] = inputs["kernel"]
    data, kernel = device.upload(inputs["data"]), device.upload(padded)
    _transform(device, data, log2_n)
    _transform(device, kernel, log2_n)
    device.launch("modulate", MODULATE_GRID, MODULATE_BLOCK, data, kernel, 0.5**log2_n, 1 << (log2_n - 2))
    _transform(device, data, log2_n)
    return {"result": data.download()}


def _transform(device: Device, data: Buffer, log2_n: int) -> None:
    """In place: radix-4 stages in global memory down to what fits a block, then blocks of shared memory."""
    rows, left = 1, log2_n
    grid = (1 << log2_n) // (4 * STAGE_BLOCK)
    while left > ELEMENTARY_LOG2:
        device.launch("transform_stage", (grid // rows, rows), STAGE_BLOCK, data, 1 << (left - 2))
        rows, left = rows << 2, left - 2
    length = 1 << left
    device.launch("transform_in_shared", rows, length // 4, data, shared_bytes=4 * length)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The dyadic convolution ``result[i] = sum over k of data[i xor k] kernel[k]`` in float64."""
    data = inputs["data"].astype(np.float64)
    positions = np.arange(data.size)
    result = np.zeros(data.size)
    for k, weight in enumerate(inputs["kernel"].astype(np.float64)):
        result += weight * data[positions ^ k]
    return {"result": result.astype(np.float32)}


def walsh_transform(values: Array) -> Array:
    """The Walsh-Hadamard transform in natural order, for tests: sums and differences, stride by stride."""
    result = values.astype(np.float64)
    stride = 1
    while stride < result.size:
        pairs = result.reshape(-1, 2, stride)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    return result


WORKLOAD = Workload(
    name="fast-walsh-transform",
    title="Fast Walsh transform",
    description=(
        "A dyadic convolution by three Walsh-Hadamard transforms. A transform takes radix-4 stages in global memory,"
        " one launch each, in which a thread loads four elements and stores their four sums and differences; then"
        " blocks of up to 512 threads finish up to 2048 elements each: the first stage on a vector of four in"
        " registers, the others in shared memory, with a barrier per stage and strides that rise from bank conflicts to"
        " rows. Index arithmetic with shifts and masks outweighs eight additions; values live for a few instructions."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "shared-memory", "barriers", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"log2_data": 12, "log2_kernel": 4},
        "small": {"log2_data": 20, "log2_kernel": 5},
        "full": {"log2_data": 23, "log2_kernel": 7},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Results are about 2^log2_kernel / 4, the transform's largest element about 2^log2_data / 2 and the kernel's
    # 2^log2_kernel / 2; the error of that element, spread over all results by the factor 1 / n, is a few 2^-24 of
    # 2^log2_kernel / 4 for each of 2 log2_data stages: at most 46 * 2^-24 = 2.8e-6 of the result.
    tolerance=Tolerance(relative=2.8e-6, absolute=1e-5),
)
