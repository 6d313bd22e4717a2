"""sad: sums of absolute differences of a frame's blocks at all displacements, for motion estimation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Workload, blocks

RANGE = 16
SIDE = 2 * RANGE + 1
PLACES = 1096
A_THREAD = 18
KINDS = 41


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``frame`` and ``reference``: uint16[height, width], 8-bit pixels; a textured scene that moves, and noise."""
    height, width = 16 * size["mb_height"], 16 * size["mb_width"]
    y, x = np.mgrid[0:height, 0:width]
    frames = []
    for moved in (0, 5):
        scene = 60 * np.sin((x + moved) / 9.0) * np.cos((y - moved / 2) / 13.0) + 40 * np.sin((x + moved) * y / 700.0)
        frames.append(np.clip(128 + scene + rng.integers(-6, 7, scene.shape), 0, 255).astype(np.uint16))
    return {"frame": frames[0], "reference": frames[1]}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Three launches; ``sads``: uint16[41 * macroblocks, 1096], 16 x 16 first, then ever smaller blocks."""
    across, down = size["mb_width"], size["mb_height"]
    sads = device.zeros((KINDS * across * down, PLACES), np.uint16)
    frame, reference = device.upload(inputs["frame"]), device.texture(inputs["reference"], address="clamp")
    threads = blocks(SIDE * SIDE, A_THREAD)
    grid = (4 * across, 4 * down)
    device.launch("sad_4", grid, threads, sads, frame, across, down, reference, shared_bytes=32)
    device.launch("larger_sad_8", (across, down), (32, 4), sads, across, down)
    device.launch("larger_sad_16", (across, down), (32, 1), sads, across, down)
    return {"sads": sads.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """One displacement after the other, all pixels of the frame at once."""
    macroblocks = size["mb_height"] * size["mb_width"]
    here = inputs["frame"].astype(np.int16)
    around = np.pad(inputs["reference"].astype(np.int16), RANGE, mode="edge")
    height, width = here.shape
    smallest = np.zeros((macroblocks, 16, PLACES), np.uint16)
    for position in range(SIDE * SIDE):
        y, x = divmod(position, SIDE)
        difference = np.abs(around[y : y + height, x : x + width] - here).astype(np.uint16)
        smallest[:, :, position] = _in_order(_pairs(_pairs(_pairs(_pairs(difference, 0), 0), 1), 1), size)
    quads = smallest.reshape(macroblocks, 4, 2, 2, PLACES)
    wide, high = quads.sum(axis=3, dtype=np.uint16), quads.sum(axis=2, dtype=np.uint16)
    square = wide.sum(axis=2, dtype=np.uint16).reshape(macroblocks, 2, 2, PLACES)
    large_wide, large_high = square.sum(axis=2, dtype=np.uint16), square.sum(axis=1, dtype=np.uint16)
    largest = large_wide.sum(axis=1, dtype=np.uint16)
    kinds = (largest, large_wide, large_high, square, wide, high, smallest)
    return {"sads": np.concatenate([kind.reshape(-1, PLACES) for kind in kinds])}


def _pairs(pixels: Array, axis: int) -> Array:
    """Sums of neighbours two by two."""
    return pixels[0::2] + pixels[1::2] if axis == 0 else pixels[:, 0::2] + pixels[:, 1::2]


def _in_order(of_blocks: Array, size: Size) -> Array:
    """``of_blocks``, 4 x 4 blocks by row and column, as [macroblocks, 16]: quadrant by quadrant."""
    split = of_blocks.reshape(size["mb_height"], 2, 2, size["mb_width"], 2, 2)
    return split.transpose(0, 3, 1, 4, 2, 5).reshape(-1, 16)


WORKLOAD = Workload(
    name="sad",
    title="Sums of absolute differences",
    description=(
        "Motion estimation as in H.264: each 4 x 4 block of a frame is compared with a reference frame at all 33 x 33"
        " displacements, then sums for the six larger shapes up to 16 x 16 are built from those. A thread of the first"
        " kernel takes 18 displacements, three at a time that share a window of 4 x 6 pixels fetched from a texture;"
        " the block's 16 pixels come from shared memory and stay in registers, so that some forty values live at once"
        " and each pixel fetched is read three times. Two more kernels add packed pairs of sums. A block has 61"
        " threads, so one warp is partly idle."
    ),
    suite="parboil",
    tags=("integer", "compute", "texture", "shared-memory", "partial-warps", "several-launches"),
    papers=("orf-lrf", "corf", "bow", "regmutex"),
    originals=("parboil/sad/cuda",),
    differences=(
        "The first kernel has 337 PTX instructions, its namesake 553 for the same 24 fetches and registers: absolute"
        " differences and addresses are computed in fewer steps."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    # Frames of 48 x 32, 320 x 272 and 704 x 576 (4CIF) pixels.
    sizes={
        "tiny": {"mb_width": 3, "mb_height": 2},
        "small": {"mb_width": 20, "mb_height": 17},
        "full": {"mb_width": 44, "mb_height": 36},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
