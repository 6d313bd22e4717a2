"""motion-estimation: where the macroblocks of a frame have moved from, to a quarter of a pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.media import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

SIDE, HALF, REACH = 16, 8, 8
PENALTY = 4
"""What a bit costs, in absolute differences."""
MODE_BITS = (1, 3, 3, 5)
PARTS = ((0, 1, 2, 3), (0, 1), (2, 3), (0, 2), (1, 3), (0,), (1,), (2,), (3,))
"""Quadrants of the parts that have a vector of their own: the whole, the halves, the quadrants."""
PART_OF = ((0, 0, 0, 0), (1, 1, 2, 2), (3, 4, 3, 4), (5, 6, 7, 8))
"""By mode and quadrant."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``before`` and ``frame``: uint8[height, width]; the picture drifts, a dozen rectangles move by themselves."""
    height, width = size["height"], size["width"]
    scene = photograph(rng, height + 32, width + 32, 1)[:, :, 0]
    before = scene[16 : 16 + height, 16 : 16 + width]
    # Half a pixel to the right, two pixels down.
    rows, cols = slice(14, 14 + height), (slice(15, 15 + width), slice(16, 16 + width))
    frame = (scene[rows, cols[0]].astype(np.int32) + scene[rows, cols[1]]) // 2
    tall, wide = height // 6, width // 6
    for _ in range(12):
        row, col = rng.integers(0, height - tall), rng.integers(0, width - wide)
        down, across = rng.integers(-7, 8, 2)
        frame[row : row + tall, col : col + wide] = scene[16 + row - down :, 16 + col - across :][:tall, :wide]
    noise = rng.integers(-2, 3, frame.shape)
    return {"before": before.copy(), "frame": np.clip(frame + noise, 0, 255).astype(np.uint8)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Search, interpolation, refinement: modes, four vectors a macroblock in quarters of a pixel, and their costs."""
    height, width = size["height"], size["width"]
    grid = width // SIDE, height // SIDE
    macroblocks = grid[0] * grid[1]
    frame, before = (device.texture(inputs[name], "2d") for name in ("frame", "before"))
    modes, costs = device.zeros(macroblocks, np.int32), device.zeros((macroblocks, 4), np.int32)
    vectors = device.zeros((macroblocks, 4, 2), np.int16)
    planes = device.zeros((4, height, width), np.uint8)
    device.launch("full_search", grid, (SIDE, SIDE), frame, before, PENALTY, modes, vectors)
    device.launch("interpolate", grid, (SIDE, SIDE), before, planes, width, height)
    layered = device.texture(planes, "2d-layered")
    device.launch("refine", grid, SIDE * SIDE, frame, layered, PENALTY, modes, vectors, costs)
    return {"modes": modes.download(), "vectors": vectors.download(), "costs": costs.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """One vector of all macroblocks after the other."""
    frame = inputs["frame"].astype(np.int32)
    modes, vectors = search(frame, inputs["before"].astype(np.int32))
    planes = half_pixels(inputs["before"].astype(np.int32))
    vectors, costs = refined(frame, planes, modes, vectors)
    return {"modes": modes.astype(np.int32), "vectors": vectors.astype(np.int16), "costs": costs.astype(np.int32)}


def vector_bits(vector: Array) -> Array:
    """Exp-Golomb bits of both components of [..., 2]."""
    code = np.where(vector > 0, 2 * vector - 1, -2 * vector) + 1
    result: Array = (2 * (np.frexp(code)[1] - 1) + 1).sum(axis=-1)
    return result


def quadrant_sums(pixels: Array) -> Array:
    """[macroblocks, 4] sums over the quadrants of each macroblock of [height, width]."""
    rows, cols = pixels.shape[0] // SIDE, pixels.shape[1] // SIDE
    sums = pixels.reshape(rows, 2, HALF, cols, 2, HALF).sum(axis=(2, 5))
    result: Array = sums.transpose(0, 2, 1, 3).reshape(rows * cols, 4)
    return result


def search(frame: Array, before: Array) -> tuple[Array, Array]:
    """Modes, and vectors [macroblocks, 4, 2] in quarters of a pixel, of the best whole vectors."""
    height, width = frame.shape
    padded = np.pad(before, REACH, mode="edge")
    candidates = np.array([(col - REACH, row - REACH) for row in range(2 * REACH) for col in range(2 * REACH)])
    best = np.full((len(PARTS), height * width // SIDE**2), 2**30)
    which = np.zeros_like(best)
    for number, (across, down) in enumerate(candidates):
        there = padded[REACH + down : REACH + down + height, REACH + across : REACH + across + width]
        quadrants = quadrant_sums(np.abs(frame - there))
        cost = PENALTY * vector_bits(4 * candidates[number])
        for part, members in enumerate(PARTS):
            sums = quadrants[:, members].sum(axis=1) + cost
            better = sums < best[part]
            best[part][better], which[part][better] = sums[better], number
    groups = [sorted(set(parts)) for parts in PART_OF]
    totals = [best[group].sum(axis=0) + PENALTY * bits for group, bits in zip(groups, MODE_BITS, strict=True)]
    modes = np.argmin(totals, axis=0)
    chosen = which.T[np.arange(len(modes))[:, None], np.array(PART_OF)[modes]]
    return modes, 4 * candidates[chosen]


def six_taps(pixels: Array, axis: int) -> Array:
    """The H.264 filter along an axis, which gets five shorter."""
    length = pixels.shape[axis] - 5
    taps = [pixels.take(range(i, i + length), axis=axis) for i in range(6)]
    result: Array = taps[0] - 5 * taps[1] + 20 * taps[2] + 20 * taps[3] - 5 * taps[4] + taps[5]
    return result


def half_pixels(before: Array) -> Array:
    """[4, height, width]: whole pixels, half a pixel to the right, half a pixel down, both."""
    across = six_taps(np.pad(before, ((2, 3), (2, 3)), mode="edge"), 1)
    down = six_taps(np.pad(before, ((2, 3), (0, 0)), mode="edge"), 0)
    planes = [before, (across[2:-3] + 16) >> 5, (down + 16) >> 5, (six_taps(across, 0) + 512) >> 10]
    result: Array = np.clip(planes, 0, 255)
    return result


def refined(frame: Array, planes: Array, modes: Array, vectors: Array) -> tuple[Array, Array]:
    """Vectors moved by half pixels, then by quarters, and what they cost; both by macroblock and quadrant."""
    together = np.array([[[a == b for a in parts] for b in parts] for parts in PART_OF])[modes]
    steps = np.array([(col - 1, row - 1) for row in range(3) for col in range(3)])
    for step in (2, 1):
        moved = [vectors + step * offset for offset in steps]
        sums = [np.einsum("mab,mb->ma", together, _differences(frame, planes, vector)) for vector in moved]
        costs = np.array(sums) + PENALTY * np.array([vector_bits(vector) for vector in moved])
        which = np.argmin(costs, axis=0)
        vectors = vectors + step * steps[which]
    return vectors, costs.min(axis=0)


def _differences(frame: Array, planes: Array, vectors: Array) -> Array:
    """[macroblocks, 4] sums of absolute differences at vectors in quarters of a pixel."""
    height, width = frame.shape
    rows, cols = height // SIDE, width // SIDE
    by_pixel = vectors.reshape(rows, cols, 2, 2, 2).transpose(0, 2, 1, 3, 4).reshape(2 * rows, 2 * cols, 2)
    by_pixel = by_pixel.repeat(HALF, axis=0).repeat(HALF, axis=1)
    x = 4 * np.arange(width) + by_pixel[:, :, 0]
    y = 4 * np.arange(height)[:, None] + by_pixel[:, :, 1]
    return quadrant_sums(np.abs(frame - quarter_samples(planes, x, y)))


def quarter_samples(planes: Array, x: Array, y: Array) -> Array:
    """Samples at quarters of pixels: the mean of the two half pixels next to them."""
    left, top, right, bottom = x >> 1, y >> 1, (x + 1) >> 1, (y + 1) >> 1
    crossed = (x & y & 1 == 1) & ((left + top) & 1 == 0)
    first = _half_samples(planes, np.where(crossed, right, left), top)
    second = _half_samples(planes, np.where(crossed, left, right), bottom)
    result: Array = (first + second + 1) >> 1
    return result


def _half_samples(planes: Array, x: Array, y: Array) -> Array:
    """Samples at half pixels, of the nearest pixel where they lie beyond the frame."""
    _, height, width = planes.shape
    layer = (x & 1) + 2 * (y & 1)
    result: Array = planes[layer, np.clip(y >> 1, 0, height - 1), np.clip(x >> 1, 0, width - 1)]
    return result


WORKLOAD = Workload(
    name="motion-estimation",
    title="Motion estimation",
    description=(
        "What an H.264 encoder does for each macroblock of a frame. The first kernel searches 16 x 16 whole-pixel"
        " vectors, one a thread, a block of 256 threads a macroblock with its pixels and the window around it in"
        " shared memory: sums of absolute differences of the quadrants in unrolled rows of sixteen, costs of nine"
        " partitions that all live at once, minima by shuffles, and a choice of four divisions. The second"
        " interpolates half pixels with six taps from 36 texture fetches. The third tries eight half- and eight"
        " quarter-pixel neighbours of each vector, one pixel a thread, through a layered texture, with sums by"
        " shuffles and barriers. Vectors are predicted to be zero, so that macroblocks do not wait for each other."
    ),
    suite="media",
    tags=("integer", "compute", "shared-memory", "texture", "barriers", "shuffle", "several-launches"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # Small is 352 x 288, 101,376 threads: 330,000 would take 33 million warp-instructions.
    sizes={
        "tiny": {"height": 48, "width": 64},
        "small": {"height": 288, "width": 352},
        "full": {"height": 1088, "width": 1920},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance=Tolerance(),
)
