"""Workloads on images and video, after the image and video traces of the register-file-cache paper."""

from __future__ import annotations

import numpy as np

from warpreg.workloads.workload import Array


def photograph(rng: np.random.Generator, height: int, width: int, channels: int) -> Array:
    """uint8[height, width, channels]: smooth light, a dozen sharp-edged discs, a rough surface, and a little noise."""
    rows, cols = np.mgrid[0:height, 0:width].astype(np.float32) / max(height, width)
    image = np.empty((height, width, channels), np.float32)
    for channel in range(channels):
        a, b, c = rng.uniform(2.0, 9.0, 3)
        image[:, :, channel] = 128 + 50 * np.sin(a * rows + c) + 50 * np.cos(b * cols - c)
    for _ in range(12):
        row, col, radius = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.0), rng.uniform(0.02, 0.2)
        inside = (rows - row) ** 2 + (cols - col) ** 2 < radius**2
        image[inside] = 0.4 * image[inside] + rng.uniform(0, 150, channels)
    grain = np.pad(rng.normal(0.0, 20.0, (height, width)), ((1, 1), (1, 1)), mode="edge")
    smoothed = sum(grain[i : i + height, j : j + width] for i in range(3) for j in range(3)) / 3.0
    roughness = np.clip(np.sin(7.0 * rows) + np.cos(9.0 * cols + 1.0), 0.0, 2.0)
    image += (roughness * smoothed)[:, :, None] + rng.normal(0.0, 2.0, image.shape)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)
