"""Inputs and NumPy references of the kernels in ``kernels.cu``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tests.foreign.case import Case

N = 100
CASES: dict[str, Callable[[np.random.Generator], Case]] = {}


def case(make: Callable[[np.random.Generator], Case]) -> Callable[[np.random.Generator], Case]:
    CASES[make.__name__] = make
    return make


def floats(rng: np.random.Generator, count: int = N) -> NDArray[np.float32]:
    return rng.uniform(0.5, 4, count).astype(np.float32)


@case
def saxpy(rng: np.random.Generator) -> Case:
    x, y, a = floats(rng), floats(rng), np.float32(1.75)
    fused = (np.float64(a) * x + y).astype(np.float32)  # the product of two floats is exact in double
    return Case(4, 32, (a, x, y, N), {2: fused}, ulps=1)


@case
def block_sum(rng: np.random.Generator) -> Case:
    x = rng.integers(-1000, 1000, 300).astype(np.int32)
    return Case(3, 128, (x, np.zeros(1, np.int32), len(x)), {1: x.sum(dtype=np.int32)[None]})


@case
def transpose(rng: np.random.Generator) -> Case:
    x = floats(rng, 11 * 18).reshape(11, 18)
    return Case((3, 2), (8, 8), (x, np.zeros((18, 11), np.float32), 11, 18), {1: x.T})


@case
def stencil(rng: np.random.Generator) -> Case:
    x = floats(rng)
    padded = np.pad(x.astype(np.float64), 2, "edge")
    total = np.convolve(padded, [0.0625, 0.25, 0.375, 0.25, 0.0625], "valid")
    return Case(4, 32, (x, np.zeros(N, np.float32), N), {1: total.astype(np.float32)}, ulps=4)


@case
def collatz(rng: np.random.Generator) -> Case:
    start = np.concatenate([[1, 2, 27, 2**32 + 1, 2**35 - 1], rng.integers(1, 5000, 40)]).astype(np.uint64)

    def steps(value: int) -> int:
        count = 0
        while value != 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        return count

    expected = np.array([steps(int(value)) for value in start], np.int32)
    return Case(2, 32, (start, np.zeros(len(start), np.int32), len(start)), {1: expected})


@case
def polynomial(rng: np.random.Generator) -> Case:
    x = rng.uniform(1, 3, N)
    return Case(4, 32, (x, np.zeros(N), N), {1: x * (x * (x * 0.125 - 0.5) + 2) + 1 / x}, ulps=8)


@case
def bits(rng: np.random.Generator) -> Case:
    x = np.concatenate([[0, 1, 2**32 - 1], rng.integers(0, 2**32, N - 3)]).astype(np.uint32)
    by = np.arange(N, dtype=np.uint32) % 31 + 1
    rotated = x << by | x >> (32 - by)
    ones = np.array([int(value).bit_count() for value in x], np.uint32)
    zeros = np.array([32 - int(value).bit_length() for value in x], np.uint32)
    return Case(4, 32, (x, x * 0, N), {1: (rotated ^ x * np.uint32(2654435761)) + ones * np.uint32(1000) + zeros})


@case
def divisions(rng: np.random.Generator) -> Case:
    a = np.concatenate([[-(2**62), 2**62], rng.integers(-(2**45), 2**45, N - 2)]).astype(np.int64)
    b = (rng.integers(1, 10**6, N) * rng.choice([-1, 1], N)).astype(np.int32)
    f = floats(rng)
    quotient = np.array(
        [abs(int(m)) // abs(int(n)) * (1 if (m < 0) == (n < 0) else -1) for m, n in zip(a, b, strict=True)]
    )
    rest = np.fmod(b, 7) + np.array([int(m) % 2**64 % 1000 for m in a])
    root = np.sqrt(f) / f[::-1]
    arguments = (a, b, f, np.zeros(N, np.int64), np.zeros(N, np.int32), np.zeros(N, np.float32), N)
    return Case(4, 32, arguments, {3: quotient, 4: rest.astype(np.int32), 5: root}, ulps=2)


@case
def choose(rng: np.random.Generator) -> Case:
    what, a = rng.integers(-1, 9, N).astype(np.int32), rng.integers(-1000, 1000, N).astype(np.int32)
    ways: list[Callable[[int], int]] = [
        lambda v: v + 7, lambda v: v * v, lambda v: -(v ^ 0x5555), lambda v: -v, lambda v: int(v / 3),
        lambda v: v * 8, lambda v: min(v, 100),
    ]  # fmt: skip
    expected = [ways[w](int(v)) if 0 <= w < len(ways) else 0 for w, v in zip(what, a, strict=True)]
    return Case(4, 32, (what, a, a * 0, N), {2: np.array(expected, np.int32)})


@case
def affine(rng: np.random.Generator) -> Case:
    layout = np.dtype([("scale", "f4", 3), ("shift", "i2"), ("sign", "i1"), ("bias", "f8")], align=True)
    record = np.array([([1.5, -2, 0.25], -3, -1, 10.5)], layout)[0]
    x = floats(rng)
    inner = x.astype(np.float64) * np.resize(record["scale"], N) - 3
    return Case(4, 32, (record, x, x * 0, N), {2: (10.5 - inner).astype(np.float32)}, ulps=16)


@case
def least(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 256, (40, 16)).astype(np.uint8)
    return Case(2, 32, (x, np.zeros((40, 8), np.uint8), 40), {1: np.sort(x)[:, :8]})
