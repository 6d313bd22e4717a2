"""sobel-filter: edges of an image, through a texture and through shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

ROW_THREADS = 384
BLOCK = (16, 4)
TILE_WIDTH = 80
"""Groups of four pixels across a block's tile."""

SHARED_PITCH = -(-4 * (TILE_WIDTH + 2) // 64) * 64
SCALE = 0.75
BRIGHTER = 1.25


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: uint8[height, width]; the width is a multiple of four."""
    return {"image": photograph(size["height"], size["width"], rng)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``texture`` and ``shared``, the two filters' results, and a brighter ``copy``; all uint8[height, width]."""
    width, height = size["width"], size["height"]
    image = device.texture(inputs["image"])
    outputs = {}
    for name, kernel, scale in (("copy", "copy_image", BRIGHTER), ("texture", "sobel_texture", SCALE)):
        out = device.zeros((height, width), np.uint8)
        device.launch(kernel, height, ROW_THREADS, out, width, width, scale, image)
        outputs[name] = out.download()
    out = device.zeros((height, width), np.uint8)
    grid = blocks(width, 4 * TILE_WIDTH), blocks(height, BLOCK[1])
    numbers = width, TILE_WIDTH, SHARED_PITCH, width, height, SCALE
    shared_bytes = SHARED_PITCH * (BLOCK[1] + 2)
    device.launch("sobel_shared", grid, BLOCK, out, *numbers, image, shared_bytes=shared_bytes)
    return outputs | {"shared": out.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The two gradients as whole numbers; scaled sums are cut off."""
    image = inputs["image"]
    height, width = image.shape
    padded = np.pad(image.astype(np.int32), 1, mode="edge")
    p = [[padded[row : row + height, column : column + width] for column in range(3)] for row in range(3)]
    horizontal = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0]
    vertical = p[0][0] + 2 * p[0][1] + p[0][2] - p[2][0] - 2 * p[2][1] - p[2][2]
    strength = (np.abs(horizontal) + np.abs(vertical)) * SCALE
    edges = np.minimum(strength, 255).astype(np.uint8)
    return {"copy": np.minimum(image * BRIGHTER, 255).astype(np.uint8), "texture": edges, "shared": edges}


WORKLOAD = Workload(
    name="sobel-filter",
    title="Sobel edge detection",
    description=(
        "The Sobel operator on a grey image. The texture version has a block of 384 threads a row and fetches eight"
        " neighbours a pixel. The shared-memory version has blocks of 16 x 4 threads that fetch a tile of 320 x 4"
        " pixels and its halo; after a barrier each thread slides along groups of four pixels, fetching one column of"
        " three bytes a step while the other two columns stay in registers, and stores four results as one word. The"
        " kernels, the copy among them, are those of the SDK's sample. Bytes in 16-bit registers, small integer sums;"
        " every value is read within a few instructions."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "texture", "shared-memory", "barriers", "several-launches"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 340, "height": 29},
        "small": {"width": 1000, "height": 900},
        "full": {"width": 2560, "height": 2048},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
