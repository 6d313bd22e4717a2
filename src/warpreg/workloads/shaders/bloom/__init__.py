"""bloom: bright parts of a picture glow; bright pass, separable blur at half size, combination."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import floats, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
THRESHOLD, KNEE, STRENGTH = 1.0, 0.25, 0.4
LUMINANCE = floats([0.2126, 0.7152, 0.0722])


def taps() -> Array:
    """The weights 70, 56, 28, 8, 1 of 256 on either side, two texels a fetch: float32[3, 4] of distance and weight."""
    weights = np.array([70, 56, 28, 8, 1]) / 256
    pairs = weights[1::2] + weights[2::2]
    distances = (weights[1::2] * [1, 3] + weights[2::2] * [2, 4]) / pairs
    table = np.zeros((3, 4), np.float32)
    table[0, 1] = weights[0]
    table[1:, 0], table[1:, 1] = distances, pairs
    return table


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``picture``: float32[height, width, 4], smooth below 1, with spots of up to some 6."""
    height, width = size["height"], size["width"]
    colours = scene.noise(rng, height, width, 3, cells=8)
    glow = np.maximum(scene.noise(rng, height, width, 1, cells=16) - 0.6, 0)
    return {"picture": padded(colours * (1 + 30 * glow**1.5), 1.0)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Bright pass, ``blurs`` times across and down, and the sum; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    half_height, half_width = height // 2, width // 2
    device.assign("blur", taps())
    picture = device.texture(inputs["picture"], filter="linear")
    first, second = (device.zeros((half_height, half_width, 4), np.float32) for _ in range(2))
    grid = blocks(half_width, BLOCK), blocks(half_height, BLOCK)

    def draw(shader: str, source: object, target: Buffer, *numbers: float) -> None:
        device.launch(shader, grid, (BLOCK, BLOCK), source, target, half_width, half_height, *numbers)

    draw("bright_pass", picture, first, THRESHOLD, KNEE)
    from_first, from_second = (device.texture(buffer, filter="linear") for buffer in (first, second))
    for _ in range(size["blurs"]):
        draw("blur_across", from_first, second)
        draw("blur_down", from_second, first)
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("combine", grid, (BLOCK, BLOCK), picture, from_first, colours, width, height, STRENGTH)
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same passes over whole pictures; the blur as nine weights, as it is meant."""
    picture = inputs["picture"][..., :3]
    glow = _bright(picture)
    for _ in range(size["blurs"]):
        glow = _blurred(_blurred(glow, 1), 0)
    y, x = np.indices(picture.shape[:2]) + np.float32(0.5)
    light = np.float32(STRENGTH) * sample(glow, 0.5 * x, 0.5 * y, filter="linear")
    return {"colours": padded(picture * (1 - saturate(light)) + light, 1.0)}


def _bright(picture: Array) -> Array:
    y, x = (2 * index + np.float32(1) for index in np.indices((picture.shape[0] // 2, picture.shape[1] // 2)))
    corners = [(x + i, y + j) for j in (-0.75, 0.75) for i in (-0.75, 0.75)]
    mean = sum(sample(picture, *corner, filter="linear") for corner in corners) * np.float32(0.25)
    luminance = mean @ LUMINANCE
    soft = saturate((luminance - THRESHOLD + KNEE) / (2 * KNEE))
    over = np.maximum(luminance - THRESHOLD, KNEE * soft**2)
    bright: Array = (over / np.maximum(luminance, 1e-4))[..., None] * mean
    return bright


def _blurred(picture: Array, axis: int) -> Array:
    """Fetches between two texels, whose fractions are rounded to 256ths; the edges repeat."""
    count = picture.shape[axis]
    at = np.arange(count)
    total = np.float32(70 / 256) * picture
    for distance, weight, *_ in taps()[1:]:
        nearer = int(distance)
        upper = np.rint((distance - nearer) * 256) / 256
        for side in (-1, 1):
            near, far = (picture.take((at + side * n).clip(0, count - 1), axis) for n in (nearer, nearer + 1))
            total = total + weight * (near * np.float32(1 - upper) + far * np.float32(upper))
    return total


WORKLOAD = Workload(
    name="bloom",
    title="Bloom",
    description=(
        "Bright parts of a picture glow. Four short pixel shaders in blocks of 16 x 16: the bright pass halves the"
        " picture with four bilinear fetches of four floats and keeps what exceeds a threshold with a soft knee; a"
        " Gaussian blur of nine texels goes across and then down, several times, each with five bilinear fetches"
        " between texels whose distances and weights lie in constant memory; the last adds picture and enlarged glow."
        " Each fetch yields three values used once, in a fused multiply-add into one of three sums: short lives, and"
        " texture traffic that dominates."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "several-launches", "constant-memory", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    # The blurs work at half the width and height: small combines 589,824 pixels and blurs a quarter of them.
    sizes={
        "tiny": {"width": 46, "height": 31, "blurs": 1},
        "small": {"width": 1024, "height": 576, "blurs": 3},
        "full": {"width": 2560, "height": 1440, "blurs": 5},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Distances between texels are constants, but from column 1024 on a coordinate is right to 2^-14 only, which is
    # below the 2^-9 that would change a fraction of 0.333 or 0.111. Some 12 roundings a pass, 12 passes: 144 * 2^-24.
    tolerance=Tolerance(relative=1e-5, absolute=1e-5),
)
