"""Hand-written PTX in the style of versions 1.0 to 3.0, most of it with 32-bit addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.foreign.case import Case
from tests.foreign.running import check

FOLDER = Path(__file__).parent / "old"


def scale(rng: np.random.Generator) -> Case:
    # x * 3 / 2 * 3 + x = 5.5 x, and not below zero; exact for small integers.
    x = rng.integers(-99, 99, 50).astype(np.float32)
    return Case(2, 32, (x, 50, 3.0), {0: np.maximum(5.5 * x, 0).astype(np.float32)})


def reverse(rng: np.random.Generator) -> Case:
    x = rng.integers(-99, 99, 75).astype(np.int32)
    positive = np.array([(x > 0).sum()], np.uint32)
    return Case(3, 32, (x, x * 0, 75, np.zeros(1, np.uint32)), {1: x[::-1], 3: positive})


def polynomial(rng: np.random.Generator) -> Case:
    # Two steps, step(a, b) = a b - 5, of x and x: (x x - 5) x - 5; a vector of the steps and the value.
    x = rng.integers(-99, 99, 50).astype(np.int32)
    return Case(2, 32, (x, np.zeros((50, 2), np.int32), 50), {1: np.stack([x * 0 + 2, (x * x - 5) * x - 5], axis=1)})


def rotate(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 2**32, 64, dtype=np.uint32)
    turned = np.roll(x, -5).byteswap()
    expected = (turned >> 4 & 0xFFFFFF) ^ 0x1234
    return Case(1, 64, (x, np.array([5, 0x1234], np.uint32).tobytes()), {0: expected})


def butterfly(rng: np.random.Generator) -> Case:
    # Lane t holds the sum of lanes t, t^16, t^8 and t^24; lane 0 has none above it and counts as 0.
    x = rng.integers(-50, 50, 32).astype(np.int32)
    lanes = np.arange(32)
    sums = sum(x[lanes ^ other] for other in (0, 8, 16, 24))
    above = np.concatenate([[0], sums[:-1]])
    ballot = sum(1 << int(lane) for lane in lanes if above[lane] > 0)
    expected = np.where(lanes % 4 == 2, sums.astype(np.int64), ballot)
    expected[0] = 0
    return Case(1, 32, (x, np.zeros(32, np.uint32)), {1: (expected % 2**32).astype(np.uint32)})


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "ptx10_scale": scale, "ptx14_reverse": reverse, "ptx21_polynomial": polynomial, "ptx23_rotate": rotate,
    "ptx30_butterfly": butterfly,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::warpreg.ptx.address_size.AddressSizeWarning")
@pytest.mark.parametrize("name", CASES)
def test_kernel(name: str) -> None:
    check(FOLDER / f"{name}.ptx", name.split("_")[1], CASES[name](np.random.default_rng(6)))
