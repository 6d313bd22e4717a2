"""recursive-gaussian: a Gaussian blur by a recursive filter down columns, transpose, and again."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

THREADS = 64
TILE = 16
SIGMA = 10.0
WHITE = 255.0


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of the filter down (``a0``, ``a1``), up (``a2``, ``a3``), of its outputs (``b1``, ``b2``); gains of constants."""

    a0: float
    a1: float
    a2: float
    a3: float
    b1: float
    b2: float
    down_gain: float
    up_gain: float


def coefficients(sigma: float) -> Coefficients:
    """Deriche's smoothing filter, (1 + alpha |n|) exp(-alpha |n|) normalized, with alpha = 1.695 / sigma."""
    alpha = 1.695 / sigma
    decay = math.exp(-alpha)
    k = (1 - decay) ** 2 / (1 + 2 * alpha * decay - decay**2)
    a0, a1, a2, a3 = k, k * (alpha - 1) * decay, k * (alpha + 1) * decay, -k * decay**2
    b1, b2 = -2 * decay, decay**2
    return Coefficients(a0, a1, a2, a3, b1, b2, (a0 + a1) / (1 + b1 + b2), (a2 + a3) / (1 + b1 + b2))


def first_order(sigma: float) -> float:
    """What is kept of the output before by the filter of first order."""
    return math.exp(-1 / sigma)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width, 4]."""
    return {"image": photograph(size["height"], size["width"], rng, channels=4)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``smooth`` and ``first_order``: uint8[height, width, 4], and ``mean``, of both: float64[2].

    A thread a column: there are few threads.
    """
    width, height = size["width"], size["height"]
    image = device.upload(inputs["image"])
    halfway, turned = (device.zeros((width, height, 4), np.uint8) for _ in range(2))
    outputs = {}
    for name, kernel, numbers in (
        ("smooth", "smooth", astuple(coefficients(SIGMA))),
        ("first_order", "smooth_first_order", (first_order(SIGMA),)),
    ):
        filtered, result = (device.zeros((height, width, 4), np.uint8) for _ in range(2))
        device.launch(kernel, blocks(width, THREADS), THREADS, image, filtered, width, height, *numbers)
        _transpose(device, turned, filtered, width, height)
        device.launch(kernel, blocks(height, THREADS), THREADS, turned, halfway, height, width, *numbers)
        _transpose(device, result, halfway, height, width)
        outputs[name] = result.download()
    return outputs | {"mean": _means(outputs)}


def _means(images: Arrays) -> Array:
    return np.array([images[name].mean() for name in ("smooth", "first_order")])


def _transpose(device: Device, target: Buffer, source: Buffer, width: int, height: int) -> None:
    grid = blocks(width, TILE), blocks(height, TILE)
    device.launch("transpose", grid, (TILE, TILE), target, source, width, height)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The recursions in float64, all columns at once, cut off to 8 bits where the kernels store."""
    smooth = first = inputs["image"]
    for _ in range(2):
        smooth = smoothed(smooth, coefficients(SIGMA)).swapaxes(0, 1)
        first = smoothed_first_order(first, first_order(SIGMA)).swapaxes(0, 1)
    found = {"smooth": np.ascontiguousarray(smooth), "first_order": np.ascontiguousarray(first)}
    return found | {"mean": _means(found)}


def smoothed(image: Array, c: Coefficients) -> Array:
    """The filter of second order down and up the first axis of uint8[height, ...]."""
    lines = image / WHITE
    down = np.empty_like(lines)
    input_1, output_1, output_2 = lines[0], c.down_gain * lines[0], c.down_gain * lines[0]
    for y, line in enumerate(lines):
        output = c.a0 * line + c.a1 * input_1 - c.b1 * output_1 - c.b2 * output_2
        down[y], input_1, output_1, output_2 = output, line, output, output_1
    total = _levels(down) / WHITE
    input_1 = input_2 = lines[-1]
    output_1 = output_2 = c.up_gain * lines[-1]
    for y in range(len(lines) - 1, -1, -1):
        output = c.a2 * input_1 + c.a3 * input_2 - c.b1 * output_1 - c.b2 * output_2
        total[y] += output
        input_1, input_2, output_1, output_2 = lines[y], input_1, output, output_1
    return _levels(total)


def smoothed_first_order(image: Array, a: float) -> Array:
    """The filter of first order down and up the first axis of uint8[height, ...]."""
    lines = image / WHITE
    before = lines[0]
    for y, line in enumerate(lines):
        before = lines[y] = line + a * (before - line)
    before = image[-1] / WHITE
    lines = _levels(lines) / WHITE
    for y in range(len(lines) - 1, -1, -1):
        before = lines[y] = lines[y] + a * (before - lines[y])
    return _levels(lines)


def _levels(colours: Array) -> Array:
    levels: Array = (np.minimum(np.abs(colours), 1) * WHITE).astype(np.uint8)
    return levels


WORKLOAD = Workload(
    name="recursive-gaussian",
    title="Recursive Gaussian filter",
    description=(
        "A blur of a four-channel image by Deriche's recursive filter, whose cost does not depend on its width, and"
        " by a simpler one of first order. As in the SDK's sample a thread runs down a column and up again, with the"
        " last input and two outputs, four channels each, in registers from one step to the next; then tiles of 16 x"
        " 16 in shared memory transpose the image, and both are repeated. Colours are unpacked from and packed into"
        " words. Few threads in blocks of 64, with a long chain of dependent multiply-adds and a dozen values that"
        " live through the loop."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "iterative", "shared-memory", "barriers", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # A thread a column: the sample's own image has 512.
    sizes={
        "tiny": {"width": 75, "height": 50},
        "small": {"width": 1024, "height": 512},
        "full": {"width": 2048, "height": 2048},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Results are cut off to 8 bits at four places, two for each direction.  Where single precision leads to the level
    # beside the right one on the way down, the sum with the way up is one level off and may be cut off by another.
    # The second direction averages over many such pixels, and may do the same once more.  Single precision is 3e-5 of a
    # level: that happens to fewer than one pixel in a thousand, which the mean shows.
    tolerance={
        "smooth": Tolerance(absolute=2),
        "first_order": Tolerance(absolute=2),
        "mean": Tolerance(absolute=1e-3),
    },
)
