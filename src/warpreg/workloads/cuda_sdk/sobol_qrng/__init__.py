"""sobol-qrng: quasi-random numbers after Sobol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Arrays, Device, Size, Workload, blocks

BITS = 32
BLOCK = 64
MAX_BLOCKS = 64
"""Blocks of one dimension."""


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``directions``: uint32[dimensions, 32], from primitive polynomials and seeded odd starting numbers."""
    polynomials = primitive_polynomials()
    rows = [_van_der_corput()]
    rows += [_directions(next(polynomials), rng) for _ in range(size["dimensions"] - 1)]
    return {"directions": np.array(rows, np.uint32)}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch, a row of blocks for each dimension; ``points``: float32[dimensions, vectors]."""
    vectors, dimensions = size["vectors"], size["dimensions"]
    directions, points = device.upload(inputs["directions"]), device.zeros((dimensions, vectors), np.float32)
    rounds = blocks(vectors, BLOCK * MAX_BLOCKS)
    grid = (blocks(vectors, BLOCK * rounds), dimensions)
    device.launch("sobol", grid, BLOCK, points, directions, vectors, rounds)
    return {"points": points.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Each point from the bits of its number's Gray code: exact but for the one rounding to float32."""
    number = np.arange(size["vectors"], dtype=np.uint32)
    gray = number ^ (number >> 1)
    points = np.zeros((size["dimensions"], size["vectors"]), np.uint32)
    for bit in range(BITS):
        chosen = (gray >> bit) & 1 != 0
        points[:, chosen] ^= inputs["directions"][:, bit : bit + 1]
    return {"points": points.astype(np.float32) * np.float32(2.3283064e-10)}


def primitive_polynomials() -> Iterator[int]:
    """Primitive polynomials over GF(2) by rising degree, as bits; x generates all 2^degree - 1 residues of one."""
    degree = 1
    while True:
        for middle in range(1 << (degree - 1)):
            polynomial = 1 << degree | middle << 1 | 1
            if _order_of_x(polynomial, degree) == (1 << degree) - 1:
                yield polynomial
        degree += 1


def _order_of_x(polynomial: int, degree: int) -> int:
    """How many powers of x there are modulo the polynomial."""
    power, order = 1, 0
    while True:
        power <<= 1
        if power >> degree:
            power ^= polynomial
        order += 1
        if power <= 1:
            return order


def _van_der_corput() -> list[int]:
    return [1 << (BITS - 1 - bit) for bit in range(BITS)]


def _directions(polynomial: int, rng: np.random.Generator) -> list[int]:
    """Direction numbers by the recurrence of the polynomial's coefficients."""
    degree = polynomial.bit_length() - 1
    numbers = [(2 * int(rng.integers(1 << k)) + 1) << (BITS - 1 - k) for k in range(degree)]
    for k in range(degree, BITS):
        number = numbers[k - degree] ^ (numbers[k - degree] >> degree)
        for step in range(1, degree):
            if polynomial >> (degree - step) & 1:
                number ^= numbers[k - step]
        numbers.append(number)
    return numbers


WORKLOAD = Workload(
    name="sobol-qrng",
    title="Sobol quasi-random numbers",
    description=(
        "Points of a Sobol sequence in many dimensions. A block of 64 threads owns a contiguous stretch of one"
        " dimension: 32 direction numbers go to shared memory, each thread makes its first point in a loop over the"
        " bits that are set in a Gray code, where lanes differ, then each further point, 64 numbers on, from the one"
        " before with a find-first-set, one shared load, two exclusive ors, a conversion and a coalesced store. The"
        " point and the loop counters live on; all other values are read once."
    ),
    suite="cuda-sdk",
    tags=("integer", "memory", "shared-memory", "barriers", "iterative"),
    papers=("orf-lrf",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"vectors": 700, "dimensions": 5},
        "small": {"vectors": 50_000, "dimensions": 100},
        "full": {"vectors": 1_000_000, "dimensions": 100},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
)
