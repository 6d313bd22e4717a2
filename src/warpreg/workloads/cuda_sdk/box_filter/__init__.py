"""box-filter: a box filter by running sums along rows and columns, of one channel and of four."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 64
WHITE = np.float32(255)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width, 4]; ``grey``: float32[height, width] from 0 to 1."""
    image = photograph(size["height"], size["width"], rng, channels=4)
    return {"image": image, "grey": image[..., 1] / WHITE}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``iterations`` times along rows and down columns; ``grey``: float32[height, width], ``image``: uint8[..., 4].

    A thread a row, then a thread a column: however large the image, there are few threads.
    """
    width, height = size["width"], size["height"]
    shape = width, height, size["radius"]
    row_grid, column_grid = blocks(height, THREADS), blocks(width, THREADS)
    grey, grey_halfway = device.upload(inputs["grey"]), device.zeros((height, width), np.float32)
    image, halfway = device.upload(inputs["image"]), device.zeros((height, width, 4), np.uint8)
    for _ in range(size["iterations"]):
        device.launch("box_rows", row_grid, THREADS, device.texture(grey), grey_halfway, *shape)
        device.launch("box_columns", column_grid, THREADS, device.texture(grey_halfway), grey, *shape)
        colours = device.texture(image, read="normalized")
        device.launch("box_rows_rgba", row_grid, THREADS, colours, halfway, *shape)
        device.launch("box_columns_rgba", column_grid, THREADS, halfway, image, *shape)
    return {"grey": grey.download(), "image": image.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Running sums in single precision, in the order of the kernels; colours are cut off to 8 bits after each pass."""
    grey, image = inputs["grey"], inputs["image"]
    for _ in range(size["iterations"]):
        for axis in (1, 0):
            grey = running_mean(grey, size["radius"], axis)
            colours = running_mean(image / WHITE, size["radius"], axis)
            image = (np.clip(colours, 0, 1) * WHITE).astype(np.uint8)
    return {"grey": grey, "image": image}


def running_mean(image: Array, radius: int, axis: int) -> Array:
    """The mean of the ``2 * radius + 1`` pixels around each one along an axis; the outermost pixels are repeated."""
    lines = np.moveaxis(image, axis, 0)
    padded = np.pad(lines, [(radius + 1, radius), *[(0, 0)] * (lines.ndim - 1)], mode="edge")
    window = 2 * radius + 1
    total = np.zeros_like(lines[0])
    for line in padded[1 : window + 1]:
        total = total + line
    totals = [total]
    for leaving, coming in zip(padded[1:], padded[window + 1 :], strict=False):
        total = total + coming - leaving
        totals.append(total)
    return np.moveaxis(np.stack(totals) * (np.float32(1) / np.float32(window)), 0, axis)


WORKLOAD = Workload(
    name="box-filter",
    title="Box filter",
    description=(
        "The mean over a square window of a grey and of a four-channel image, along rows and then down columns. As in"
        " the SDK's sample a thread walks along a whole row or column and keeps a running sum, adding the pixel that"
        " comes and subtracting the one that leaves. Rows (and grey columns) come through a texture, columns of"
        " colours from global memory with loops of their own for the two borders; colours are unpacked from 8 bits a"
        " channel and packed again. Few threads in blocks of 64, long loops without independent work but the four"
        " channels; the sums live long, all else is read once."
    ),
    suite="cuda-sdk",
    tags=("float", "memory", "texture", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # A thread a row, then a thread a column: 1,024 threads are the sample's own.
    sizes={
        "tiny": {"width": 70, "height": 45, "radius": 5, "iterations": 1},
        "small": {"width": 1024, "height": 1024, "radius": 14, "iterations": 1},
        "full": {"width": 2048, "height": 2048, "radius": 14, "iterations": 2},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Sums of grey values are the same to the bit. The columns' sum of colours starts with a product, rounded once where
    # the reference adds, so that what is cut off to a whole level may come out beside it.
    tolerance={"image": Tolerance(absolute=1)},
)
