"""dct8x8: the discrete cosine transform of 8 x 8 blocks, its inverse, and quantization between them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpreg.workloads.cuda_sdk.pictures import photograph
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

SIDE = 8
BLOCK = (SIDE, SIDE)
FAST_BLOCK, FAST_AREA = (32, 2), (32, 16)
SHORT_BLOCK, SHORT_AREA = (32, 4), (32, 32)

HALF_SQRT, EVEN_COS, EVEN_SIN = 23170, 30274, 12540
ODD_COS_1, ODD_SIN_1, ODD_COS_3, ODD_SIN_3 = 8035, 1598, 6811, 4551
"""Cosines in fixed point, as in the kernel."""


def cosines() -> Array:
    """The orthonormal matrix of the transform: float64[8, 8], a row a frequency."""
    frequency, place = np.mgrid[0:SIDE, 0:SIDE]
    matrix: Array = 0.5 * np.cos((2 * place + 1) * frequency * np.pi / 16)
    matrix[0] *= np.sqrt(0.5)
    return matrix


def quanta() -> Array:
    """Steps that grow with the frequency: int16[8, 8], from 12 to 68."""
    row, column = np.mgrid[0:SIDE, 0:SIDE]
    steps: Array = (12 + 4 * (row + column)).astype(np.int16)
    return steps


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[height, width] around 0, and ``short_image``, the same as int16."""
    levels = photograph(size["height"], size["width"], rng) - np.float32(128)
    noise = rng.random(levels.shape, dtype=np.float32) - np.float32(0.5)
    return {"image": levels + noise, "short_image": levels.astype(np.int16)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Each way forward, quantized and back; coefficients (float ones before quantization) and images."""
    width, height = size["width"], size["height"]
    grid = width // SIDE, height // SIDE
    fast_grid = width // FAST_AREA[0], height // FAST_AREA[1]
    short_grid = width // SHORT_AREA[0], height // SHORT_AREA[1]
    device.assign("cosines", cosines().astype(np.float32))
    device.assign("quanta", quanta())
    image = device.upload(inputs["image"])
    coefficients, restored = (device.zeros((height, width), np.float32) for _ in range(2))
    outputs = {}

    device.launch("forward_matrix", grid, BLOCK, coefficients, width, device.texture(image))
    outputs["matrix_coefficients"] = coefficients.download()
    device.launch("quantize_float", grid, BLOCK, coefficients, width)
    device.launch("inverse_matrix", grid, BLOCK, restored, width, device.texture(coefficients))
    outputs["matrix_image"] = restored.download()

    device.launch("forward_fast", fast_grid, FAST_BLOCK, coefficients, image, width)
    outputs["fast_coefficients"] = coefficients.download()
    device.launch("quantize_float", grid, BLOCK, coefficients, width)
    device.launch("inverse_fast", fast_grid, FAST_BLOCK, restored, coefficients, width)
    outputs["fast_image"] = restored.download()

    data = device.upload(inputs["short_image"])
    device.launch("forward_short", short_grid, SHORT_BLOCK, data, width)
    device.launch("quantize_short", grid, BLOCK, data, width)
    outputs["short_coefficients"] = data.download()
    device.launch("inverse_short", short_grid, SHORT_BLOCK, data, width)
    return outputs | {"short_image": data.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Matrix products in float64, and the fixed-point flow graph on whole numbers."""
    matrix, steps = cosines(), quanta()
    coefficients = matrix @ _in_blocks(inputs["image"].astype(np.float64)) @ matrix.T
    ratio = coefficients / steps
    quantized = np.sign(ratio) * np.floor(np.abs(ratio) + 0.5) * steps
    image = matrix.T @ quantized @ matrix
    outputs = {f"{way}_coefficients": _in_rows(coefficients).astype(np.float32) for way in ("matrix", "fast")}
    outputs |= {f"{way}_image": _in_rows(image).astype(np.float32) for way in ("matrix", "fast")}

    short = both_ways(_in_blocks(inputs["short_image"].astype(np.int64)), forward_eight)
    short = np.sign(short) * ((np.abs(short) + steps // 2) // steps) * steps
    outputs["short_coefficients"] = _in_rows(short).astype(np.int16)
    return outputs | {"short_image": _in_rows(both_ways(short, inverse_eight)).astype(np.int16)}


def _in_blocks(image: Array) -> Array:
    """[height, width] as [block row, block column, 8, 8]."""
    height, width = image.shape
    return image.reshape(height // SIDE, SIDE, width // SIDE, SIDE).swapaxes(1, 2)


def _in_rows(blocks: Array) -> Array:
    rows, columns = blocks.shape[:2]
    return blocks.swapaxes(1, 2).reshape(rows * SIDE, columns * SIDE)


def both_ways(blocks: Array, eight: Callable[[Array], list[Array]]) -> Array:
    """``eight`` down the columns of int64[..., 8, 8], then along the rows."""
    columns = np.stack(eight(np.moveaxis(blocks, -2, 0)), axis=-2)
    return np.stack(eight(np.moveaxis(columns, -1, 0)), axis=-1)


def forward_eight(v: Array) -> list[Array]:
    """Eight coefficients of eight numbers int64[8, ...] in fixed point."""
    outer, middle, inner = v[0] + v[7], v[3] + v[4], (v[1] + v[6], v[2] + v[5])
    outer_sum, outer_difference = outer + middle, outer - middle
    inner_sum, inner_difference = inner[0] + inner[1], inner[0] - inner[1]
    turned_sum = _quarters((v[1] - v[6] + v[2] - v[5]) * HALF_SQRT)
    turned_difference = _quarters((v[1] - v[6] - v[2] + v[5]) * HALF_SQRT)
    a, b = 4 * (v[0] - v[7]) + turned_sum, 4 * (v[3] - v[4]) + turned_difference
    c, d = 4 * (v[0] - v[7]) - turned_sum, 4 * (v[3] - v[4]) - turned_difference
    return [
        _whole((outer_sum + inner_sum) * HALF_SQRT),
        _whole(a * ODD_COS_1 + b * ODD_SIN_1),
        _whole(outer_difference * EVEN_COS + inner_difference * EVEN_SIN),
        _whole(c * ODD_COS_3 - d * ODD_SIN_3),
        _whole((outer_sum - inner_sum) * HALF_SQRT),
        _whole(c * ODD_SIN_3 + d * ODD_COS_3),
        _whole(outer_difference * EVEN_SIN - inner_difference * EVEN_COS),
        _whole(a * ODD_SIN_1 - b * ODD_COS_1),
    ]


def inverse_eight(v: Array) -> list[Array]:
    """Eight numbers of eight coefficients int64[8, ...] in fixed point."""
    sum_04, difference_04 = (v[0] + v[4]) * HALF_SQRT, (v[0] - v[4]) * HALF_SQRT
    turned_26, turned_62 = v[2] * EVEN_COS + v[6] * EVEN_SIN, v[2] * EVEN_SIN - v[6] * EVEN_COS
    sum_35, difference_35 = _quarters((v[3] + v[5]) * HALF_SQRT), _quarters((v[3] - v[5]) * HALF_SQRT)
    a, b, c, d = 4 * v[1] + sum_35, 4 * v[7] + difference_35, 4 * v[1] - sum_35, 4 * v[7] - difference_35
    even = (sum_04 + turned_26, difference_04 + turned_62, difference_04 - turned_62, sum_04 - turned_26)
    odd = (
        a * ODD_COS_1 + b * ODD_SIN_1,
        c * ODD_COS_3 - d * ODD_SIN_3,
        c * ODD_SIN_3 + d * ODD_COS_3,
        a * ODD_SIN_1 - b * ODD_COS_1,
    )
    left = [_whole(e + o) for e, o in zip(even, odd, strict=True)]
    return left + [_whole(e - o) for e, o in zip(even[::-1], odd[::-1], strict=True)]


def _whole(x: Array) -> Array:
    return (x + (1 << 15)) >> 16


def _quarters(x: Array) -> Array:
    return (x + (1 << 12)) >> 13


WORKLOAD = Workload(
    name="dct8x8",
    title="Discrete cosine transform of 8 x 8 blocks",
    description=(
        "An image is transformed as in JPEG, quantized and transformed back, by the three methods of the SDK's sample."
        " The first multiplies by the matrix of cosines: 64 threads a block, pixels through a texture, coefficients in"
        " constant memory, unrolled sums of eight products over shared memory, twice the same product with a transposed"
        " result. The second has 64 threads on 32 x 16 pixels, a warp a strip of four tiles: a lane holds a column of"
        " eight in registers, straight from global memory, sends it through the flow graph of Loeffler, Ligtenberg and"
        " Moschytz, and does so with a row after an exchange in shared memory. The third does the same with 128 threads"
        " on 16-bit numbers in fixed point, packed to vectors along rows. Short chains with eight to twelve values"
        " alive at once, most of them read two to four times."
    ),
    suite="cuda-sdk",
    tags=(
        "float",
        "compute",
        "shared-memory",
        "texture",
        "constant-memory",
        "barriers",
        "divergence",
        "several-launches",
    ),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 96, "height": 64},
        "small": {"width": 704, "height": 480},
        "full": {"width": 2048, "height": 2048},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Coefficients are two sums of eight products: 18 roundings of partial sums below 64 * 128 / 4, 18 * 2^-24 * 2048 is
    # 2.2e-3; so are pixels. A coefficient nearer than that to the middle between two quanta may go to the other one, by
    # chance 2 * 2.2e-3 / 12 a coefficient at the very most, and all pixels of its block with it.
    tolerance={
        "matrix_coefficients": Tolerance(absolute=2.2e-3),
        "fast_coefficients": Tolerance(absolute=2.2e-3),
        "matrix_image": Tolerance(absolute=2.2e-3, fraction=0.01),
        "fast_image": Tolerance(absolute=2.2e-3, fraction=0.01),
    },
)
