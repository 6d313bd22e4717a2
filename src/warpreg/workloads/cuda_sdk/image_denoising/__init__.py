"""image-denoising: means of pixels that are alike, by k nearest neighbours and by non-local means."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

SIDE = 8
BLOCK = (SIDE, SIDE)
RADIUS = 3
REACH = range(-RADIUS, RADIUS + 1)
AREA = (2 * RADIUS + 1) ** 2

CONTRAST, NOISE = 4, 25
"""How far edges are raised, and the standard deviation of the noise in levels of 255."""

KNN_SHARPNESS, KNN_MIXTURE = 1 / 0.32**2, 0.2
NLM_SHARPNESS, NLM_MIXTURE = 1 / 1.45**2, 0.2
KNN_THRESHOLDS = 0.02, 0.79
NLM_THRESHOLDS = 0.10, 0.10
"""What a weight must exceed to count, and the share of such weights in a smooth region."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width, 4], with hard edges and much noise."""
    image = photograph(size["height"], size["width"], rng, channels=4).astype(np.float64)
    noisy = (image - image.mean()) * CONTRAST + 128 + rng.normal(0, NOISE, image.shape)
    return {"image": np.clip(noisy, 0, 255).astype(np.uint8)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``copy``, pictures and their smooth regions by each filter: uint8[height, width, 4], the last channel 0."""
    width, height = size["width"], size["height"]
    image = device.texture(inputs["image"], read="normalized")
    grid = blocks(width, SIDE), blocks(height, SIDE)
    outputs = {}
    for name, numbers in (
        ("copy", ()),
        ("knn", (KNN_SHARPNESS, KNN_MIXTURE)),
        ("knn_regions", (KNN_SHARPNESS,)),
        ("nlm", (NLM_SHARPNESS, NLM_MIXTURE)),
        ("nlm_regions", (NLM_SHARPNESS,)),
        ("nlm_quick", (NLM_SHARPNESS, NLM_MIXTURE)),
        ("nlm_quick_regions", (NLM_SHARPNESS,)),
    ):
        out = device.zeros((height, width, 4), np.uint8)
        device.launch(name, grid, BLOCK, image, out, width, height, *numbers)
        outputs[name] = out.download()
    return outputs


def reference(size: Size, inputs: Arrays) -> Arrays:
    """One neighbour of all pixels at a time, in float64."""
    image = inputs["image"][..., :3] / 255
    outputs = {"copy": inputs["image"].copy()}
    outputs["copy"][..., 3] = 0
    for name, weights, thresholds, mixture in (
        ("knn", knn_weights(image), KNN_THRESHOLDS, KNN_MIXTURE),
        ("nlm", nlm_weights(image), NLM_THRESHOLDS, NLM_MIXTURE),
        ("nlm_quick", quick_weights(image), NLM_THRESHOLDS, NLM_MIXTURE),
    ):
        mean, share = _weigh(image, weights, thresholds[0])
        is_smooth = share > thresholds[1]
        part = np.where(is_smooth, mixture, 1 - mixture)[..., None]
        outputs[name] = _levels(mean + (image - mean) * part)
        outputs[f"{name}_regions"] = _levels(np.stack([is_smooth, np.zeros_like(is_smooth), ~is_smooth], axis=-1))
    return outputs


def _levels(colours: Array) -> Array:
    """Three channels from 0 to 1 as whole levels, and a fourth of 0: uint8[..., 4]."""
    result = np.zeros((*colours.shape[:2], 4), np.uint8)
    result[..., :3] = colours * 255
    return result


Weights = dict[tuple[int, int], Array]
"""By rows and columns to a neighbour: the weights of that neighbour for all pixels, or numbers that spread to that."""


def shifted(image: Array, down: int, right: int, margin: int = 0) -> Array:
    """The pixel ``down`` rows below and ``right`` columns beside each one, and each up to ``margin`` beyond an edge."""
    height, width = image.shape[:2]
    rows = np.clip(np.arange(-margin, height + margin) + down, 0, height - 1)
    columns = np.clip(np.arange(-margin, width + margin) + right, 0, width - 1)
    pixels: Array = image[rows[:, None], columns]
    return pixels


def _difference(a: Array, b: Array) -> Array:
    squares: Array = ((a - b) ** 2).sum(axis=-1)
    return squares


def knn_weights(image: Array) -> Weights:
    """From the differences of colours."""
    return {
        (i, j): np.exp(-(_difference(image, shifted(image, i, j)) * KNN_SHARPNESS + (i * i + j * j) / AREA))
        for i in REACH
        for j in REACH
    }


def nlm_weights(image: Array) -> Weights:
    """From the differences of the 7 x 7 pixels around two pixels, beyond the edges too."""
    weights = {}
    here = shifted(image, 0, 0, RADIUS)
    for i in REACH:
        for j in REACH:
            unlike = _difference(shifted(image, i, j, RADIUS), here)
            for axis in range(2):
                windows = np.lib.stride_tricks.sliding_window_view(unlike, 2 * RADIUS + 1, axis=axis)
                unlike = windows.sum(axis=-1)
            weights[i, j] = np.exp(-(unlike * NLM_SHARPNESS + (i * i + j * j) / AREA))
    return weights


def quick_weights(image: Array) -> Weights:
    """One set a block of 8 x 8: of each of its pixels against the fourth of the fourth row."""
    height, width = image.shape[:2]
    rows, columns = blocks(height, SIDE) * SIDE, blocks(width, SIDE) * SIDE
    y, x = np.mgrid[0:rows, 0:columns]
    centre_y, centre_x = y // SIDE * SIDE + RADIUS, x // SIDE * SIDE + RADIUS
    unlike = np.zeros((rows, columns))
    for n in REACH:
        for m in REACH:
            unlike += _difference(_at(image, y + n, x + m), _at(image, centre_y + n, centre_x + m))
    weight = np.exp(-(unlike * NLM_SHARPNESS + ((y - centre_y) ** 2 + (x - centre_x) ** 2) / AREA))
    weight[height:], weight[:, width:] = 0, 0
    spread = {}
    for i in range(SIDE):
        for j in range(SIDE):
            of_block = np.kron(weight[i::SIDE, j::SIDE], np.ones(BLOCK))
            spread[i - RADIUS, j - RADIUS] = of_block[:height, :width]
    return spread


def _at(image: Array, y: Array, x: Array) -> Array:
    height, width = image.shape[:2]
    pixels: Array = image[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return pixels


def _weigh(image: Array, weights: Weights, threshold: float) -> tuple[Array, Array]:
    """The weighted mean of all neighbours, and the share of those whose weight is over the threshold."""
    total, sums, share = np.zeros(image.shape[:2]), np.zeros(image.shape), np.zeros(image.shape[:2])
    for (i, j), weight in weights.items():
        sums += shifted(image, i, j) * weight[..., None]
        total += weight
        share += weight > threshold
    return sums / total[..., None], share / AREA


WORKLOAD = Workload(
    name="image-denoising",
    title="Image denoising",
    description=(
        "Noise is removed from an image by means over 7 x 7 neighbours that are weighted by likeness: of two pixels"
        " (k nearest neighbours), of the 7 x 7 pixels around both (non-local means), and of those once for a block of"
        " 8 x 8 pixels (the quick form, with weights in shared memory); three more kernels show which regions each of"
        " them takes for smooth, and one copies. A thread a pixel, in blocks of 8 x 8, all colours through a texture."
        " Pixels are compared in opposite pairs, windows seven at a time, those of the quick form with the block's own"
        " pixels in shared memory. Loops over four-channel fetches at computed coordinates, differences squared and"
        " summed, one exponential a neighbour: five sums live through the loops, seven more where windows are compared;"
        " fetched colours are read twice or three times within a few instructions."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "texture", "sfu", "shared-memory", "barriers", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # Non-local means take 2,401 differences of two fetches a pixel: the small size is a sample of the sample's picture,
    # which has 320 x 408 pixels.
    sizes={
        "tiny": {"width": 27, "height": 21},
        "small": {"width": 112, "height": 72},
        "full": {"width": 320, "height": 408},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Levels are cut off to whole numbers: a rounding in single precision may lead to the one beside it. A weight that
    # is within 1e-6 of a threshold may count or not, and change how much of the original is mixed in.
    tolerance=dict.fromkeys(
        ("knn", "knn_regions", "nlm", "nlm_regions", "nlm_quick", "nlm_quick_regions"),
        Tolerance(absolute=1, fraction=0.001),
    ),
)
