"""Inputs and NumPy references of the kernels in ``kernels.py``; the last two arguments are Triton's own scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.foreign.case import Case

SCRATCH = (0, 0)


def vector_add(rng: np.random.Generator) -> Case:
    x, y = rng.random((2, 300), np.float32)
    return Case(2, 128, (x, y, np.zeros_like(x), 300, *SCRATCH), {2: x + y})


def total(rng: np.random.Generator) -> Case:
    x = rng.integers(-50, 50, 300).astype(np.int32)
    return Case(3, 64, (x, np.zeros(1, np.int32), 300, *SCRATCH), {1: x.sum(dtype=np.int32)[None]}, shared_bytes=8)


def softmax(rng: np.random.Generator) -> Case:
    x = rng.normal(size=(3, 50)).astype(np.float32)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return Case(3, 64, (x, np.zeros_like(x), 50, *SCRATCH), {1: expected}, ulps=32, shared_bytes=8)


def layer_norm(rng: np.random.Generator) -> Case:
    x = rng.normal(2, 3, (3, 100)).astype(np.float16)
    weight, bias = rng.random((2, 100), np.float32)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    expected = ((wide - wide.mean(axis=1, keepdims=True)) * scale * weight + bias).astype(np.float16)
    arguments = (x, weight, bias, np.zeros_like(x), 100, 1e-5, *SCRATCH)
    return Case(3, 64, arguments, {3: expected}, ulps=2, absolute=1e-3, shared_bytes=8)


def running_sum(rng: np.random.Generator) -> Case:
    x = rng.integers(-9, 9, 100).astype(np.int32)
    expected = x.cumsum(dtype=np.int32)
    return Case(1, 64, (x, np.zeros_like(x), 100, *SCRATCH), {1: expected}, shared_bytes=16)


def matmul(rng: np.random.Generator) -> Case:
    # Small integers: products and sums are exact in single precision.
    a, b = rng.integers(-4, 5, (16, 32)).astype(np.float16), rng.integers(-4, 5, (32, 16)).astype(np.float16)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    return Case(1, 32, (a, b, np.zeros_like(expected), 32, *SCRATCH), {2: expected}, shared_bytes=1024)


CASES: dict[str, Any] = {c.__name__: c for c in (vector_add, total, softmax, layer_norm, running_sum, matmul)}
