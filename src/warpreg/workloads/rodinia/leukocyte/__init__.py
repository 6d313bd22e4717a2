"""leukocyte: white blood cells are found in a frame of video microscopy and their outlines followed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

CIRCLES = 7
POINTS = 150
SMALLEST_RADIUS = 8
MARGIN = 22
DILATION_THREADS = 176

CELL_ROWS, CELL_COLS = 41, 81
TRACKING_THREADS = 320
SHARPNESS = 1e-4
CUTOFF = 1e-4
SPREAD, PULL = 0.5 / 5.0, 1.0 / 5.0


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """The gradient of a frame of dark round cells, and the edges of the cells that are tracked.

    ``gradient_x``, ``gradient_y``: float32[cols, rows]; ``edges``: float32[cells, 41, 81], from 0 to 1.
    """
    rows, cols = size["rows"], size["cols"]
    col, row = np.mgrid[:cols, :rows]
    frame: Array = 0.02 * rng.standard_normal((cols, rows))
    for _ in range(max(1, rows * cols // 4000)):
        x, y = rng.uniform(MARGIN, cols - MARGIN), rng.uniform(MARGIN, rows - MARGIN)
        frame += np.tanh(np.hypot(col - x, row - y) - rng.uniform(9, 13))
    gradient: Array = np.array(np.gradient(frame), np.float32)
    return {
        "gradient_x": gradient[0],
        "gradient_y": gradient[1],
        "edges": _outlines(size["cells"], rng),
    }


def _outlines(cells: int, rng: np.random.Generator) -> Array:
    """Blurred noisy ellipses: float32[cells, 41, 81]."""
    row, col = np.mgrid[:CELL_ROWS, :CELL_COLS]
    edges: Array = np.empty((cells, CELL_ROWS, CELL_COLS))
    for edge in edges:
        y, x = CELL_ROWS / 2 + rng.uniform(-4, 4), CELL_COLS / 2 + rng.uniform(-8, 8)
        radius = np.hypot((row - y) / rng.uniform(9, 13), (col - x) / rng.uniform(14, 24))
        edge[:] = np.exp(-(((radius - 1) / 0.12) ** 2)) + 0.1 * rng.random(edge.shape)
    edges /= edges.max(axis=(1, 2), keepdims=True)
    return edges.astype(np.float32)


def circles() -> tuple[Array, Array, Array, Array]:
    """Sine and cosine of the angles, and the points of the circles as offsets in x and y.

    float32[150], float32[150], int32[7, 150], int32[7, 150]; the radii are 8, 10, .. 20 pixels.
    """
    angle = 2 * np.pi * np.arange(POINTS) / POINTS
    radius = (SMALLEST_RADIUS + 2 * np.arange(CIRCLES))[:, None]
    sine, cosine = np.sin(angle), np.cos(angle)
    x, y = (radius * cosine).astype(np.int32), (radius * sine).astype(np.int32)
    return sine.astype(np.float32), cosine.astype(np.float32), x, y


def disk(reach: int) -> Array:
    """Where the structuring element is: 1 within ``reach`` pixels of its middle; float32[2 reach + 1, 2 reach + 1]."""
    across = np.arange(-reach, reach + 1)
    inside: Array = np.hypot(across[:, None], across) <= reach
    return inside.astype(np.float32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Scores of all pixels, their maxima in disks, and the fields of the cells."""
    rows, cols, cells = size["rows"], size["cols"], size["cells"]
    for name, table in zip(("sine", "cosine", "offset_x", "offset_y"), circles(), strict=True):
        device.assign(name, table)
    structure = disk(size["reach"])
    device.assign("structure", structure)

    gradients = [device.texture(inputs[name].reshape(-1), "1d") for name in ("gradient_x", "gradient_y")]
    scores, maxima = device.zeros((cols, rows), np.float32), device.zeros((rows, cols), np.float32)
    device.launch("gicov", cols - 2 * MARGIN, rows - 2 * MARGIN, *gradients, rows, scores)
    dilation = blocks(rows * cols, DILATION_THREADS)
    flat = device.texture(scores.download().reshape(-1), "1d")
    device.launch("dilate", dilation, DILATION_THREADS, flat, rows, cols, *structure.shape, maxima)

    images, fields = device.upload(inputs["edges"]), device.upload(inputs["edges"])
    starts = 4 * CELL_ROWS * CELL_COLS * np.arange(cells, dtype=np.uint64)
    device.launch(
        "imgvf",
        cells,
        TRACKING_THREADS,
        device.upload(np.uint64(fields.address) + starts),
        device.upload(np.uint64(images.address) + starts),
        device.upload(np.full(cells, CELL_ROWS, np.int32)),
        device.upload(np.full(cells, CELL_COLS, np.int32)),
        1.0,
        1.0,
        SHARPNESS,
        size["iterations"],
        CUTOFF,
    )
    return {"scores": scores.download(), "maxima": maxima.download(), "fields": fields.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """In float64: mean and variance in two passes, the disk shift by shift, all cells' fields at once."""
    scores = cell_scores(inputs["gradient_x"].astype(np.float64), inputs["gradient_y"].astype(np.float64))
    return {
        "scores": scores.astype(np.float32),
        "maxima": dilated(scores.T, size["reach"]).astype(np.float32),
        "fields": spread_edges(inputs["edges"].astype(np.float64), size["iterations"]).astype(np.float32),
    }


def cell_scores(gradient_x: Array, gradient_y: Array) -> Array:
    """The largest squared mean over variance of the radial gradient along the circles; 0 within the margin."""
    sine, cosine, offset_x, offset_y = circles()
    cols, rows = (n - 2 * MARGIN for n in gradient_x.shape)
    scores = np.zeros_like(gradient_x)
    inside = scores[MARGIN:-MARGIN, MARGIN:-MARGIN]
    radial = np.empty((POINTS, cols, rows))
    for circle in range(CIRCLES):
        for point in range(POINTS):
            x, y = MARGIN + offset_x[circle, point], MARGIN + offset_y[circle, point]
            window = np.s_[x : x + cols, y : y + rows]
            radial[point] = gradient_x[window] * cosine[point] + gradient_y[window] * sine[point]
        mean = radial.mean(axis=0)
        radial -= mean
        np.square(radial, out=radial)
        np.maximum(inside, mean**2 / (radial.sum(axis=0) / (POINTS - 1)), out=inside)
    return scores


def dilated(image: Array, reach: int) -> Array:
    """The largest value within ``reach`` pixels, at least 0."""
    padded = np.pad(image, reach)
    result = np.zeros_like(image)
    for row, col in np.argwhere(disk(reach)):
        np.maximum(result, padded[row : row + image.shape[0], col : col + image.shape[1]], out=result)
    return result


def spread_edges(edges: Array, iterations: int) -> Array:
    """The motion gradient vector fields of some cells: float64[cells, rows, cols]; a cell stops once it is still."""
    fields = edges.copy()
    moving = np.arange(len(edges))
    for _ in range(iterations):
        before = fields[moving]
        after = _spread_once(before, edges[moving])
        fields[moving] = after
        moving = moving[np.abs(after - before).mean(axis=(1, 2)) >= CUTOFF]
    return fields


def _spread_once(fields: Array, edges: Array) -> Array:
    rows, cols = fields.shape[1:]
    padded = np.pad(fields, ((0, 0), (1, 1), (1, 1)), mode="edge")
    flow = np.zeros_like(fields)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            rise = padded[:, 1 + down : 1 + down + rows, 1 + right : 1 + right + cols] - fields
            flow += (np.arctan(rise * (down + right) / SHARPNESS) / 3.14159 + 0.5) * rise
    after = fields + SPREAD * flow
    return after - PULL * edges * (after - edges)


WORKLOAD = Workload(
    name="leukocyte",
    title="Detection and tracking of white blood cells",
    description=(
        "Three kernels find round cells in a frame and spread the edges of the cells that are followed. The first has"
        " a block for each column of the frame; a thread scores one pixel along 7 circles of 150 points, each two"
        " texture fetches weighted by sine and cosine from constant memory, with a running mean and variance. The"
        " second takes the largest score in a 25 x 25 disk through a texture, with branches at the frame's edge and"
        " outside the disk. The third, the longest, has a block of 320 threads for each cell, whose field of 41 x 81"
        " stays in shared memory from the first iteration to convergence: eight arc tangents and a double precision"
        " multiply-add for each, two barriers a tile, a tree reduction an iteration. Short values in the two image"
        " kernels, 8 differences and coefficients of the arc tangent alive together in the third."
    ),
    suite="rodinia",
    tags=("float", "compute", "texture", "constant-memory", "shared-memory", "barriers", "f64", "iterative"),
    papers=(),
    originals=("rodinia/leukocyte",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        # A frame of the real height, 219 pixels, in two: one column of it is one block. Few columns, cells and
        # iterations make it small: 3,500 threads score pixels, and none of the launches fills a large machine.
        "tiny": {"rows": 49, "cols": 46, "cells": 2, "iterations": 2, "reach": 4},
        "small": {"rows": 219, "cols": 64, "cells": 6, "iterations": 12, "reach": 12},
        "full": {"rows": 219, "cols": 640, "cells": 36, "iterations": 100, "reach": 12},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # The mean of 150 terms is wrong by up to 150 * 2^-24 = 9e-6 of their magnitude, which is at most
        # sqrt(score + 1) deviations; the score, its square over the variance, by 2 * 9e-6 * (score + 1) and a few more
        # roundings of the variance.
        "scores": Tolerance(relative=4e-5, absolute=4e-5),
        "maxima": Tolerance(relative=4e-5, absolute=4e-5),
        # An iteration rounds a field below 1 some ten times and hardly magnifies errors: 100 * 10 * 2^-25 = 3e-5.
        "fields": Tolerance(absolute=3e-5),
    },
)
