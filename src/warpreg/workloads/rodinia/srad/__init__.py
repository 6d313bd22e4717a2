"""srad: speckle reducing anisotropic diffusion of an image, untiled and in tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 512
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
    """Both versions, with two launches or more an iteration."""
    return {
        "image": _untiled(device, inputs["image"], size["iterations"]),
        "tiled": _tiled(device, inputs["tiled"], size["tiled_iterations"]),
    }


def _untiled(device: Device, picture: Array, iterations: int) -> Array:
    rows, cols = picture.shape
    pixels, grid = rows * cols, blocks(rows * cols, THREADS)
    image = device.upload(np.ascontiguousarray(picture.T))
    sums, squares, north, south, east, west, coefficient = (device.zeros(pixels, np.float32) for _ in range(7))
    ends = (np.maximum(np.arange(rows) - 1, 0), np.minimum(np.arange(rows) + 1, rows - 1))
    sides = (np.minimum(np.arange(cols) + 1, cols - 1), np.maximum(np.arange(cols) - 1, 0))
    neighbours = [device.upload(numbers.astype(np.int32)) for numbers in (*ends, *sides)]
    common = (np.float32(LAMBDA), rows, cols, pixels, *neighbours, north, south, east, west)

    device.launch("extract", grid, THREADS, pixels, image)
    for _ in range(iterations):
        device.launch("prepare", grid, THREADS, pixels, image, sums, squares)
        count, step = pixels, 1
        while count > 1:
            device.launch("reduce", blocks(count, THREADS), THREADS, pixels, count, step, sums, squares)
            count, step = blocks(count, THREADS), step * THREADS
        noise = _noise(float(sums.download()[0]), float(squares.download()[0]), pixels)
        device.launch("srad", grid, THREADS, *common, noise, coefficient, image)
        device.launch("srad2", grid, THREADS, *common, coefficient, image)
    device.launch("compress", grid, THREADS, pixels, image)
    return np.ascontiguousarray(image.download().T)


def _tiled(device: Device, picture: Array, iterations: int) -> Array:
    rows, cols = picture.shape
    grid = cols // TILE, rows // TILE
    image = device.upload(np.exp(picture))
    east, west, north, south, coefficient = (device.zeros(picture.shape, np.float32) for _ in range(5))
    common = (east, west, north, south, image, coefficient, cols, rows)
    for _ in range(iterations):
        noise = _region_noise(image.download())
        device.launch("srad_tiles_1", grid, (TILE, TILE), *common, noise)
        device.launch("srad_tiles_2", grid, (TILE, TILE), *common, np.float32(LAMBDA), noise)
    return image.download()


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
        " of 512 and column-major images: an exponential, then in each iteration a reduction in shared memory that is"
        " repeated until one block is left, a kernel that finds neighbours through tables of row and column numbers"
        " and computes differences and the diffusion coefficient with several divisions, partly in double precision"
        " because of its constants, a kernel that applies them, and at the end a logarithm. The second works on 16 x"
        " 16 tiles whose sides, corners and inside take nine branches to fetch neighbours from shared memory. Fifteen"
        " parameters and as many addresses; values are short but for the four differences."
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
