"""mandelbrot: escape counts of the Mandelbrot set, pure arithmetic in a loop that lanes leave at different times."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (32, 8)
LEFT, TOP, SPAN = -2.2, 1.2, 3.2
PIXELS_AT_ONCE = 8192


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``view``: float32[3], the real part of the left edge, the imaginary part of the top edge, the side of a pixel.

    The seed moves the picture by up to one pixel each way.
    """
    pixel = SPAN / size["width"]
    left, top = np.array([LEFT, TOP]) + pixel * rng.random(2)
    return {"view": np.array([left, top, pixel], dtype=np.float32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch, one thread per pixel; ``counts``: int32[height, width]."""
    width, height = size["width"], size["height"]
    counts = device.zeros((height, width), np.int32)
    grid = blocks(width, BLOCK[0]), blocks(height, BLOCK[1])
    device.launch("mandelbrot", grid, BLOCK, counts, width, height, *inputs["view"], size["limit"])
    return {"counts": counts.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The iteration in float32 without fused operations, strip by strip of pixels, dropping those that escape."""
    left, top, pixel = inputs["view"]
    cx = np.tile(left + pixel * np.arange(size["width"], dtype=np.float32), size["height"])
    cy = np.repeat(top - pixel * np.arange(size["height"], dtype=np.float32), size["width"])
    strips = [slice(start, start + PIXELS_AT_ONCE) for start in range(0, cx.size, PIXELS_AT_ONCE)]
    counts = np.concatenate([_escape_counts(cx[strip], cy[strip], size["limit"]) for strip in strips])
    return {"counts": counts.reshape(size["height"], size["width"])}


def _escape_counts(cx: Array, cy: Array, limit: int) -> Array:
    """int32 counts for the points ``cx + i cy`` (float32, one dimension)."""
    counts = np.full(cx.size, limit, dtype=np.int32)
    running = np.arange(cx.size)
    x, y, xx, yy = (np.zeros(cx.size, dtype=np.float32) for _ in range(4))
    for count in range(1, limit + 1):
        y *= x + x
        y += cy
        np.subtract(xx, yy, out=x)
        x += cx
        np.multiply(x, x, out=xx)
        np.multiply(y, y, out=yy)
        escaped = xx + yy > 4.0
        if escaped.any():
            counts[running[escaped]] = count
            inside = ~escaped
            running, cx, cy = running[inside], cx[inside], cy[inside]
            x, y, xx, yy = x[inside], y[inside], xx[inside], yy[inside]
            if running.size == 0:
                break
    return counts


WORKLOAD = Workload(
    name="mandelbrot",
    title="Mandelbrot set",
    description=(
        "For each pixel the number of iterations z -> z^2 + c until |z| exceeds 2, up to a limit. One thread per"
        " pixel in blocks of 32 x 8, no memory but the final store: a loop of ten float and integer operations on five"
        " values that live through it. Lanes escape at different times, so warps near the edge of the set run with few"
        " of them, and their neighbours inside the set to the limit."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "divergence"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 70, "height": 45, "limit": 64},
        "small": {"width": 690, "height": 630, "limit": 512},
        "full": {"width": 1600, "height": 1200, "limit": 1000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # The compiler fuses multiplications with additions, the reference rounds both. Near the edge of the set the last
    # bit decides when a point escapes: 0.27% of the pixels differ between the two at the small size.
    tolerance=Tolerance(fraction=0.01),
)
