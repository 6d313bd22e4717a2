"""srad: speckle reducing anisotropic diffusion of an image, untiled and in tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 512
SHARE = 16
"""Pixels that a thread sums."""
TILE = 16
REGION = 128
"""The tiled version takes its statistics from the first 128 rows and columns."""
LAMBDA = 0.5


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[rows, cols] from 0 to 255, and ``tiled``, whose sides count tiles, from 0 to 1: discs of
    different brightness under speckle noise."""
    tiled = _picture(size["tile_rows"] * TILE, size["tile_cols"] * TILE, rng)
    return {"image": 255 * _picture(size["rows"], size["cols"], rng), "tiled": tiled}


def _picture(rows: int, cols: int, rng: np.random.Generator) -> Array:
    y, x = np.mgrid[:rows, :cols]
    picture = np.full((rows, cols), 0.3)
    for _ in range(6):
        radius = rng.uniform(0.1, 0.3) * min(rows, cols)
        inside = (y - rng.uniform(0, rows)) ** 2 + (x - rng.uniform(0, cols)) ** 2 < radius**2
        picture[inside] = rng.uniform(0.1, 0.7)
    return np.clip(picture + 0.1 * rng.normal(size=(rows, cols)), 0, 1).astype(np.float32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Both versions: four launches an iteration without tiles, one in tiles."""
    return {
        "image": _untiled(device, inputs["image"], size["iterations"]),
        "tiled": _tiled(device, inputs["tiled"], size["tiled_iterations"]),
    }


def _untiled(device: Device, picture: Array, iterations: int) -> Array:
    rows, cols = picture.shape
    pixels, grid = rows * cols, blocks(rows * cols, THREADS)
    parts = blocks(pixels, THREADS * SHARE)
    now, later, coefficients = device.upload(picture), *(device.zeros(picture.shape, np.float32) for _ in range(2))
    sums = device.zeros((parts, 2), np.float32)
    device.launch("expand", grid, THREADS, pixels, now)
    for _ in range(iterations):
        device.launch("sum_pixels", parts, THREADS, pixels, now, sums)
        device.launch("sum_blocks", 1, THREADS, parts, sums)
        total, squares = (float(number) for number in sums.download()[0])
        noise = _noise(total, squares, pixels)
        device.launch("conductance", grid, THREADS, rows, cols, noise, now, coefficients)
        device.launch("diffuse", grid, THREADS, rows, cols, LAMBDA / 4, coefficients, now, later)
        now, later = later, now
    device.launch("compress", grid, THREADS, pixels, now)
    return now.download()


def _tiled(device: Device, picture: Array, iterations: int) -> Array:
    rows, cols = picture.shape
    grid = cols // TILE, rows // TILE
    now, later = device.upload(np.exp(picture)), device.zeros(picture.shape, np.float32)
    for _ in range(iterations):
        noise = _region_noise(now.download())
        device.launch("diffuse_tile", grid, (TILE, TILE), rows, cols, noise, np.float32(LAMBDA / 4), now, later)
        now, later = later, now
    return now.download()


def _noise(total: float, squares: float, count: int) -> np.float32:
    """The squared coefficient of variation: variance over squared mean."""
    mean = total / count
    return np.float32((squares / count - mean**2) / mean**2)


def _region_noise(image: Array) -> np.float32:
    region = image[:REGION, :REGION].astype(np.float64)
    return _noise(float(region.sum()), float((region**2).sum()), region.size)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Both versions on whole images, in float64."""
    image = np.exp(inputs["image"].astype(np.float64) / 255)
    for _ in range(size["iterations"]):
        image = diffused(image, float(_noise(float(image.sum()), float((image**2).sum()), image.size)))
    tiled = np.exp(inputs["tiled"].astype(np.float64))
    for _ in range(size["tiled_iterations"]):
        tiled = diffused(tiled, float(_region_noise(tiled)))
    return {"image": (255 * np.log(image)).astype(np.float32), "tiled": tiled.astype(np.float32)}


def diffused(image: Array, noise: float) -> Array:
    """One iteration; neighbours beyond the edge are the pixel itself."""
    padded = np.pad(image, 1, mode="edge")
    north, south = padded[:-2, 1:-1] - image, padded[2:, 1:-1] - image
    west, east = padded[1:-1, :-2] - image, padded[1:-1, 2:] - image
    gradient = (north**2 + south**2 + west**2 + east**2) / image**2
    laplacian = (north + south + west + east) / image
    variation = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
    c: Array = np.clip(1 / (1 + (variation - noise) / (noise * (1 + noise))), 0, 1)
    beyond = np.pad(c, ((0, 1), (0, 1)), mode="edge")
    divergence = c * (north + west) + beyond[1:, :-1] * south + beyond[:-1, 1:] * east
    result: Array = image + LAMBDA / 4 * divergence
    return result


WORKLOAD = Workload(
    name="srad",
    title="Speckle reducing anisotropic diffusion",
    description=(
        "Diffusion that smooths speckle but keeps edges, in two versions. The first has one thread a pixel in blocks"
        " of 512: an exponential, then in each iteration sums of pixels and squares, 16 pixels a thread and a fold in"
        " shared memory, a kernel that computes the diffusion coefficient of each pixel with several divisions, partly"
        " in double precision, a kernel that applies the coefficients, and at the end a logarithm. The second does an"
        " iteration of a 16 x 16 tile in one kernel: 19 x 19 pixels and 17 x 17 coefficients lie in shared memory, so"
        " that a few threads have a second coefficient to compute. Differences are taken anew where they are needed."
        " Addresses of clamped neighbours, chains of divisions; sixteen loads in flight in the sums."
    ),
    suite="rodinia",
    tags=("float", "memory", "shared-memory", "barriers", "f64", "sfu", "divergence", "several-launches", "iterative"),
    papers=("orf-lrf", "bow", "regmutex", "rc-rsp"),
    originals=("rodinia/srad",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 37, "cols": 53, "iterations": 2, "tile_rows": 3, "tile_cols": 5, "tiled_iterations": 2},
        "small": {"rows": 580, "cols": 573, "iterations": 1, "tile_rows": 36, "tile_cols": 36, "tiled_iterations": 1},
        "full": {
            "rows": 502,
            "cols": 458,
            "iterations": 100,
            "tile_rows": 128,
            "tile_cols": 128,
            "tiled_iterations": 2,
        },
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # An iteration rounds pixels, between 1 and e, a few times: 1e-7 each of 100 for the image, times 255 in the end.
    tolerance={"image": Tolerance(absolute=3e-3), "tiled": Tolerance(absolute=1e-6)},
)
