"""dwt2d: the wavelet transforms of JPEG 2000 on colour images, forward and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

Lift = Callable[[Array], tuple[Array, Array]]

WIDTH, HEIGHT = 192, 8
SPLIT_THREADS = 256
COMPONENTS = 3
LIFTING = (-1.586134342, -0.05298011854, 0.8829110762, 0.4435068522)
SCALE = 1.230174104914
"""Coefficients of the 9/7 wavelet: ITU-T Rec. T.800, annex F."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``pixels``: uint8[rows, cols, 3], waves of some lengths with noise."""
    y, x = np.mgrid[: size["rows"], : size["cols"]] / 64
    image = np.zeros((size["rows"], size["cols"], COMPONENTS))
    for _ in range(5):
        along, across, phase = rng.normal(size=3)
        image += 20 * np.sin(6 * along * x + 6 * across * y + phase)[:, :, None] * rng.normal(size=COMPONENTS)
    return {"pixels": np.clip(128 + image + 5 * rng.normal(size=image.shape), 0, 255).astype(np.uint8)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Both wavelets; ``bands53`` and ``image53``: int32[3, pixels], the bands and what becomes of them on the way back,
    ``bands97`` and ``image97``: float32[3, pixels]."""
    results: dict[str, Array] = {}
    for wavelet, dtype, kind in (("53", np.int32, "int"), ("97", np.float32, "float")):
        components = _components(device, inputs["pixels"], dtype, kind)
        bands = [_levels(device, f"forward{wavelet}", component, size, forward=True) for component in components]
        results[f"bands{wavelet}"] = np.stack([buffer.download() for buffer in bands])
        images = [_levels(device, f"reverse{wavelet}", buffer, size, forward=False) for buffer in bands]
        results[f"image{wavelet}"] = np.stack([buffer.download() for buffer in images])
    return results


def _components(device: Device, pixels: Array, dtype: type[np.generic], kind: str) -> list[Buffer]:
    """The three components of the pixels around zero, which the kernel reads in whole blocks."""
    count = pixels.shape[0] * pixels.shape[1]
    grid = blocks(count, SPLIT_THREADS)
    padded = np.zeros(grid * SPLIT_THREADS * COMPONENTS, np.uint8)
    padded[: pixels.size] = pixels.ravel()
    components = [device.zeros(count, dtype) for _ in range(COMPONENTS)]
    device.launch(f"split_components_{kind}", grid, SPLIT_THREADS, *components, device.upload(padded), count)
    return components


def _levels(device: Device, kernel: str, source: Buffer, size: Size, forward: bool) -> Buffer:
    """Transform the whole image, then its low band, and so on; or back, from the smallest."""
    shapes = extents(size["rows"], size["cols"], size["levels"])
    content = source.download()
    for rows, cols in shapes if forward else reversed(shapes):
        part = device.upload(content[: rows * cols])
        result = device.zeros(rows * cols, content.dtype)
        steps = blocks(rows, 15 * HEIGHT)
        grid = blocks(cols, WIDTH), blocks(rows, HEIGHT * steps)
        device.launch(kernel, grid, WIDTH, part, result, cols, rows, steps)
        content[: rows * cols] = result.download()
    return device.upload(content)


def extents(rows: int, cols: int, levels: int) -> list[tuple[int, int]]:
    """Rows and columns of the image and of its low bands that are transformed."""
    return [(blocks(rows, 1 << level), blocks(cols, 1 << level)) for level in range(levels)]


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Whole images along y, then along x; what comes back is the image itself."""
    pixels = np.moveaxis(inputs["pixels"], 2, 0)
    whole = pixels.astype(np.int64) - 128
    parts = pixels.astype(np.float64) / 255 - 0.5
    bands = {
        name: np.stack([_transformed(component, size["levels"], lift) for component in image])
        for name, image, lift in (("bands53", whole, lifted53), ("bands97", parts, lifted97))
    }
    return {
        "bands53": bands["bands53"].astype(np.int32),
        "image53": whole.reshape(COMPONENTS, -1).astype(np.int32),
        "bands97": bands["bands97"].astype(np.float32),
        "image97": parts.reshape(COMPONENTS, -1).astype(np.float32),
    }


def _transformed(image: Array, levels: int, lift: Lift) -> Array:
    """The bands of all levels, one after the other in the place of what they were made of."""
    flat = image.copy().ravel()
    for rows, cols in extents(image.shape[0], image.shape[1], levels):
        along_y = lift(flat[: rows * cols].reshape(rows, cols).T)
        flat[: rows * cols] = np.concatenate([band.ravel() for part in along_y for band in lift(part.T)])
    return flat


def lifted53(signal: Array) -> tuple[Array, Array]:
    """The low and the high band along the last axis, on integers."""
    even, odd = signal[..., ::2], signal[..., 1::2]
    odd = odd - (_beside_odd(even, odd) >> 1)
    return even + (_beside_even(odd, even) + 2 >> 2), odd


def lifted97(signal: Array) -> tuple[Array, Array]:
    """The low and the high band along the last axis."""
    even, odd = signal[..., ::2], signal[..., 1::2]
    for predict, update in (LIFTING[:2], LIFTING[2:]):
        odd = odd + predict * _beside_odd(even, odd)
        even = even + update * _beside_even(odd, even)
    return even / SCALE, odd * SCALE


def _beside_odd(even: Array, odd: Array) -> Array:
    """The sum of the two neighbours of each odd place; beyond the end the signal is mirrored."""
    right = np.concatenate((even[..., 1:], even[..., -1:]), axis=-1)
    result: Array = even[..., : odd.shape[-1]] + right[..., : odd.shape[-1]]
    return result


def _beside_even(odd: Array, even: Array) -> Array:
    """The sum of the two neighbours of each even place; beyond the ends the signal is mirrored."""
    places = even.shape[-1]
    left = np.concatenate((odd[..., :1], odd), axis=-1)
    right = np.concatenate((odd, odd[..., -1:]), axis=-1)
    result: Array = left[..., :places] + right[..., :places]
    return result


WORKLOAD = Workload(
    name="dwt2d",
    title="Two-dimensional wavelet transform",
    description=(
        "The 5/3 wavelet on integers and the 9/7 wavelet on floats, three levels forward and back, on the components"
        " of a colour image. A block of 192 threads slides a window of 192 x 8 pixels down the image. Each thread"
        " loads and lifts a column, keeping the last 3 or 7 rows in registers for the next window; the first 3 or 7"
        " threads have a second column beyond the sides, while the others of their warp wait. Rows are lifted in"
        " shared memory, where even and odd columns lie in arrays of their own, with a barrier after each of the two"
        " or four steps, and the bands are written. All loops are unrolled, and there is a version of the code for"
        " blocks inside, at the right and at the bottom of the image: thousands of instructions, and runs of loads"
        " that need many registers. Images of usual sizes have fewer than a hundred blocks a launch."
    ),
    suite="rodinia",
    tags=("float", "compute", "shared-memory", "barriers", "divergence", "several-launches"),
    papers=("regmutex", "rc-rsp"),
    originals=("rodinia/dwt2d",),
    differences=(
        "The namesake chooses among windows of 192, 128 and 64 columns by the width of the image; here they always"
        " have 192, with 8 rows. Its two kernels for grey images are left out: the input is a colour image."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"rows": 69, "cols": 201, "levels": 2},
        "small": {"rows": 512, "cols": 640, "levels": 3},
        "full": {"rows": 1024, "cols": 1024, "levels": 3},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Numbers up to 1/2 go through four steps and a scale in each direction and on each level, which at most double
    # them: 3 * 2 * 5 roundings of 2^-24 are 1.8e-6, and as much on the way back.
    tolerance={"bands97": Tolerance(absolute=2e-6), "image97": Tolerance(absolute=4e-6)},
)
