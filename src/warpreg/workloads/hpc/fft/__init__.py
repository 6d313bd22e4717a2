"""fft: images to their spectra and back, in batches of transforms of 512 complex points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

POINTS = 512
THREADS = 64


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[images, 512, cols, 2], real and imaginary parts uniform in [-1, 1)."""
    shape = size["images"], POINTS, size["cols"], 2
    return {"image": 2.0 * rng.random(shape, dtype=np.float32) - np.float32(1.0)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Columns and, of square images, rows forward; then the first ``back`` images backward. A block a transform."""
    cols = size["cols"]
    image = device.upload(inputs["image"])
    spectrum = device.zeros(inputs["image"].shape, np.float32)
    restored = device.zeros((size["back"], POINTS, cols, 2), np.float32)
    columns, columns_back = size["images"] * cols, size["back"] * cols
    device.launch("fft_forward", columns, THREADS, image, spectrum, cols)
    if cols == POINTS:
        device.launch("fft_forward", columns, THREADS, spectrum, spectrum, 1)
        device.launch("fft_inverse", columns_back, THREADS, spectrum, restored, 1)
        device.launch("fft_inverse", columns_back, THREADS, restored, restored, cols)
    else:
        device.launch("fft_inverse", columns_back, THREADS, spectrum, restored, cols)
    return {"spectrum": spectrum.download(), "restored": restored.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """NumPy's transform in complex128; what comes back is the image."""
    image = inputs["image"].astype(np.float64)
    axes = (1, 2) if size["cols"] == POINTS else (1,)
    spectrum = np.fft.fftn(image[..., 0] + 1j * image[..., 1], axes=axes)
    return {"spectrum": _pairs(spectrum), "restored": inputs["image"][: size["back"]]}


def _pairs(numbers: Array) -> Array:
    """Real and imaginary parts along a last axis, float32."""
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


WORKLOAD = Workload(
    name="fft",
    title="Fast Fourier transform",
    description=(
        "Two-dimensional Fourier transforms of 512 x 512 complex images and their inverses, columns and rows in turn,"
        " in batches of 512-point transforms. As in SHOC's FFT a block of 64 threads does one transform in three"
        " passes of radix 8: a thread holds eight complex points in registers, transforms them, turns them by sines"
        " and cosines from the special function unit, and exchanges them through padded shared memory, real parts"
        " before imaginary ones, with four barriers. Sixteen values live at once, most read two or three times soon"
        " after they are written; columns are read 4 KB apart. The size tiny has a few columns only."
    ),
    suite="hpc",
    tags=("float", "compute", "shared-memory", "barriers", "sfu", "vector-loads", "several-launches"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # 11 images have 5,632 columns, 360,448 threads a launch.
    sizes={
        "tiny": {"images": 2, "cols": 7, "back": 2},
        "small": {"images": 11, "cols": POINTS, "back": 2},
        "full": {"images": 32, "cols": POINTS, "back": 32},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Forward: four turns by sines and cosines that stray by up to 2^-20.9 and 18 additions in a row of 2^-24 each, in
    # all 3.1e-6 of the root mean square, 512 * sqrt(2/3) = 418; three times that at the worst of 10^7 points.
    # There and back the same twice, of 0.82.
    tolerance={"spectrum": Tolerance(relative=3.1e-6, absolute=4e-3), "restored": Tolerance(absolute=1.6e-5)},
)
