"""dxtc: DXT1 compression of an image, every partition of a block's colours tried."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

THREADS = 64
COLOURS = 16
PARTITIONS_OF_4, PARTITIONS_OF_3 = 992, 160
POWER_STEPS = 8
LOW_BITS = np.uint32(0x55555555)

ALPHA_OF_4, ALPHA_OF_3 = (np.array(row, np.float32) for row in ((3, 0, 2, 1), (2, 0, 1, 1)))
"""Weights of the first end colour in the palette's four entries, in thirds or halves."""

AT_ONCE = 512
"""Blocks that the reference takes at once."""


def partitions() -> Array:
    """Sixteen sorted colours cut into clusters, two bits a colour: uint32[992].

    Clusters are those of palette entries 0, 2, 3 and 1, in this order along the line. Partitions without entry 3 come
    first; the last one of either kind is repeated up to 160 and 992.
    """
    ends = [(i, j, k) for i, j, k in product(range(COLOURS + 1), repeat=3) if i <= j <= k]
    of_3 = [_packed(*cut) for cut in ends if cut[1] == cut[2]]
    of_4 = [_packed(*cut) for cut in ends if cut[1] < cut[2]]
    of_3 += of_3[-1:] * (PARTITIONS_OF_3 - len(of_3))
    of_4 += of_4[-1:] * (PARTITIONS_OF_4 - PARTITIONS_OF_3 - len(of_4))
    return np.array(of_3 + of_4, np.uint32)


def _packed(first: int, second: int, third: int) -> int:
    entries = [0] * first + [2] * (second - first) + [3] * (third - second) + [1] * (COLOURS - third)
    return sum(entry << (2 * place) for place, entry in enumerate(entries))


def weights(alphas: Array) -> Array:
    """alpha, alpha^2, beta^2 and alpha beta of the palette's entries, in thirds or halves: float32[4, 4]."""
    betas = alphas[0] - alphas
    return np.stack([alphas, alphas**2, betas**2, alphas * betas], axis=1)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``blocks``: uint8[blocks, 16, 4], the image's blocks of 4 x 4 colours one after the other."""
    image = photograph(size["height"], size["width"], rng, channels=4)
    tiles = image.reshape(size["height"] // 4, 4, size["width"] // 4, 4, 4).swapaxes(1, 2)
    return {"blocks": np.ascontiguousarray(tiles.reshape(-1, COLOURS, 4))}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``compressed``: uint32[blocks, 2]; ``error``: float64[1], the mean square of what is lost, in levels."""
    count = len(inputs["blocks"])
    device.assign("weights", np.stack([weights(ALPHA_OF_3), weights(ALPHA_OF_4)]))
    result = device.zeros((count, 2), np.uint32)
    device.launch("compress", count, THREADS, result, device.upload(inputs["blocks"]), device.upload(partitions()))
    return _judged(result.download(), inputs["blocks"])


def _judged(compressed: Array, blocks: Array) -> Arrays:
    lost = decompress(compressed) - blocks[..., :3].astype(np.float64)
    return {"compressed": compressed, "error": np.array([np.mean(lost**2)])}


def decompress(compressed: Array) -> Array:
    """The colours of DXT1 blocks: float64[blocks, 16, 3], from 0 to 255."""
    ends = np.stack([compressed[:, 0] & 0xFFFF, compressed[:, 0] >> 16], axis=1)
    colours = np.stack([(ends >> 11) / 31, (ends >> 5 & 63) / 63, (ends & 31) / 31], axis=-1) * 255.0
    has_four = (ends[:, 0] > ends[:, 1])[:, None]
    first, second = colours[:, 0], colours[:, 1]
    third = np.where(has_four, (2 * first + second) / 3, (first + second) / 2)
    last = np.where(has_four, (first + 2 * second) / 3, 0)
    palette = np.stack([first, second, third, last], axis=1)
    indices = compressed[:, 1:] >> np.arange(0, 2 * COLOURS, 2, dtype=np.uint32) & 3
    return np.take_along_axis(palette, indices.astype(np.int64)[..., None], axis=1)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All partitions of all blocks in double precision, the first of the best kept as the kernel does."""
    blocks = inputs["blocks"]
    parts = [_compressed(blocks[start : start + AT_ONCE]) for start in range(0, len(blocks), AT_ONCE)]
    return _judged(np.concatenate(parts), blocks)


class Trial(NamedTuple):
    """The best of some partitions: for each block its error, the partition and the two end colours."""

    error: Array
    partition: Array
    first: Array
    second: Array

    def exchanged(self, where: Array, flipped: Array | np.uint32) -> Trial:
        """With the end colours in the other order in some blocks, and some bits of the indices flipped for it."""
        return Trial(
            self.error,
            np.where(where, self.partition ^ flipped, self.partition),
            np.where(where, self.second, self.first),
            np.where(where, self.first, self.second),
        )


def _compressed(blocks: Array) -> Array:
    colours = (blocks[..., :3] * np.float32(1 / 255)).astype(np.float64)
    mean = colours.mean(axis=1, keepdims=True)
    differences = colours - mean
    places = np.einsum("bic,bc->bi", differences, principal_axis(differences))
    order = np.argsort(places, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    ordered = np.take_along_axis(differences, order[..., None], axis=1)

    four = _tried(ordered, mean, partitions(), ALPHA_OF_4)
    four = four.exchanged(four.first < four.second, LOW_BITS)
    three = _tried(ordered, mean, partitions()[:PARTITIONS_OF_3], ALPHA_OF_3)
    three = three.exchanged(three.first > three.second, ~three.partition >> np.uint32(1) & LOW_BITS)
    is_three = three.error < four.error
    best = Trial(*(np.where(is_three, a, b) for a, b in zip(three, four, strict=True)))
    return _packed_blocks(best, ranks)


def _packed_blocks(best: Trial, ranks: Array) -> Array:
    partition = np.where(best.first == best.second, 0, best.partition).astype(np.uint32)
    entries = partition[:, None] >> (2 * ranks).astype(np.uint32) & np.uint32(3)
    indices = (entries << np.arange(0, 2 * COLOURS, 2, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)
    return np.stack([(best.second << 16 | best.first).astype(np.uint32), indices], axis=1)


def principal_axis(differences: Array) -> Array:
    """Of differences from the mean, [blocks, 16, 3]: eight steps of power iteration from (1, 1, 1)."""
    covariance = np.einsum("bic,bid->bcd", differences, differences)
    axis = np.ones((len(differences), 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        for _ in range(POWER_STEPS):
            axis = np.einsum("bcd,bd->bc", covariance, axis)
            axis = axis / axis.max(axis=1, keepdims=True)
    return axis


def _tried(differences: Array, mean: Array, table: Array, alphas: Array) -> Trial:
    """Least squares on differences from the mean: as they add up to zero, so do the two weighted sums."""
    unit = alphas[0]
    entries = table[:, None] >> np.arange(0, 2 * COLOURS, 2, dtype=np.uint32) & np.uint32(3)
    alpha_2, beta_2, alpha_beta = weights(alphas)[entries].sum(axis=1).T[1:, :, None]
    alpha_x = alphas[entries] @ differences
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = unit / (alpha_2 * beta_2 - alpha_beta * alpha_beta)
        a, first = _rounded(mean + factor * (beta_2 + alpha_beta) * alpha_x)
        b, second = _rounded(mean - factor * (alpha_2 + alpha_beta) * alpha_x)
    a, b = a - mean, b - mean
    error = a * a * alpha_2 + b * b * beta_2 + 2 * (a * b * alpha_beta - unit * (a - b) * alpha_x)
    errors = error.sum(axis=2) * (36 / unit**2)  # a whole factor, so that equal errors stay equal
    best = errors.argmin(axis=1)
    row = np.arange(len(best))
    return Trial(errors[row, best], table[best], first[row, best], second[row, best])


def _rounded(colour: Array) -> tuple[Array, Array]:
    steps = np.array([31, 63, 31])
    levels = np.rint(np.clip(np.nan_to_num(colour, nan=0.0, posinf=1.0, neginf=0.0), 0, 1) * steps)
    r, g, b = (levels[..., channel].astype(np.int64) for channel in range(3))
    return levels / steps, r << 11 | g << 5 | b


WORKLOAD = Workload(
    name="dxtc",
    title="DXT1 texture compression",
    description=(
        "Each 4 x 4 block of an image becomes two colours of 16 bits and sixteen indices. As in the SDK's sample, a"
        " block of 64 threads compresses one: sixteen of them find the principal axis of the colours by shuffles and"
        " three squarings of their covariance, and sort the colours along it into shared memory; then all try the 992"
        " partitions into four clusters, of a table in global memory, and 160 into three, in one list, by least squares"
        " from weights in constant memory, and a reduction finds the least error. Long straight stretches on vectors of"
        " three, with one reciprocal a trial; the sixteen colours, as differences from their mean, and the choice of"
        " the best so far live in registers throughout."
    ),
    suite="cuda-sdk",
    tags=("float", "compute", "shared-memory", "constant-memory", "divergence", "partial-warps", "barriers", "sfu"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The sample's picture has 512 x 512 pixels; the small size is a part of it, as its 64 threads a block try 1152
    # partitions, 11,000 warp-instructions for 16 pixels.
    sizes={
        "tiny": {"width": 20, "height": 12},
        "small": {"width": 160, "height": 112},
        "full": {"width": 512, "height": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Of two partitions that are equally good to the precision of float32 the other one may be chosen, here by one block
    # in a hundred.  What is lost in all is then the same to that precision.
    tolerance={"compressed": Tolerance(fraction=0.03), "error": Tolerance(relative=1e-3)},
)
