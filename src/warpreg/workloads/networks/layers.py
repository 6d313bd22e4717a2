"""Layers of neural networks in NumPy, float64, and seeded weights for them.

Activations are float64[images, channels, rows, cols]; weights of a convolution are [maps, channels, kernel, kernel].
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import DTypeLike

from warpreg.workloads.workload import Array


def weights(rng: np.random.Generator, *shape: int, dtype: DTypeLike = np.float32) -> Array:
    """Normal numbers that keep the size of rectified activations from layer to layer; the first axis counts outputs."""
    spread = np.sqrt(2.0 / np.prod(shape[1:]))
    return (rng.standard_normal(shape, dtype=np.float32) * np.float32(spread)).astype(dtype)


def biases(rng: np.random.Generator, outputs: int, dtype: DTypeLike = np.float32) -> Array:
    """Uniform in [-0.1, 0.1)."""
    return rng.uniform(-0.1, 0.1, outputs).astype(dtype)


def activations(rng: np.random.Generator, *shape: int, dtype: DTypeLike = np.float32) -> Array:
    """What a rectifier leaves of normal numbers: half of them zeros."""
    return np.maximum(rng.standard_normal(shape, dtype=np.float32), 0).astype(dtype)


def windows(x: Array, kernel: int, stride: int) -> Array:
    """All windows of a map: [images, channels, rows, cols, kernel, kernel], a view."""
    return sliding_window_view(x, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]


def convolve(x: Array, filters: Array, stride: int = 1, padding: int = 0) -> Array:
    """Correlation with every filter, zeros beyond the edge."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    patches = windows(padded, filters.shape[-1], stride)
    return np.tensordot(patches, filters.astype(np.float64), axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def with_bias(x: Array, bias: Array) -> Array:
    """One number a map added."""
    return x + bias.astype(np.float64)[:, None, None]


def rectify(x: Array) -> Array:
    """Zero in place of what is negative."""
    return np.maximum(x, 0.0)


def max_pool(x: Array, kernel: int, stride: int) -> Array:
    """The largest of each window that lies within the map."""
    result: Array = windows(x, kernel, stride).max(axis=(4, 5))
    return result


def average_pool(x: Array, kernel: int, stride: int) -> Array:
    """The mean of each window that lies within the map."""
    result: Array = windows(x, kernel, stride).mean(axis=(4, 5))
    return result


def dense(x: Array, matrix: Array, bias: Array) -> Array:
    """[images, outputs] of [images, ...]: a product with matrix[outputs, inputs]."""
    return x.reshape(len(x), -1).astype(np.float64) @ matrix.astype(np.float64).T + bias


def softmax(x: Array) -> Array:
    """Exponentials over their sum along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result
