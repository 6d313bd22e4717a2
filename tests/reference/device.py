"""The reference interpreter with the face of a device, so that host code written for the executor runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.reference.interpreter import Buffer, Reference


class ReferenceBuffer:
    """An array in the reference's global memory."""

    def __init__(self, buffer: Buffer, shape: Any, dtype: Any) -> None:
        self.buffer = buffer
        self.shape = shape
        self.dtype = np.dtype(dtype)

    def download(self) -> np.ndarray:
        return np.frombuffer(bytes(self.buffer.data), self.dtype).reshape(self.shape)

    def write(self, array: np.ndarray, /) -> None:
        self.buffer.data[:] = np.ascontiguousarray(array).tobytes()


class ReferenceDevice:
    """Uploads, zeros and launches, as of `warpreg.simt.Device`; ``steps`` counts thread-instructions."""

    def __init__(self, text: str) -> None:
        self.reference = Reference(text)
        self.steps = 0

    def upload(self, array: np.ndarray, /) -> ReferenceBuffer:
        return ReferenceBuffer(self.reference.buffer(np.ascontiguousarray(array).tobytes()), array.shape, array.dtype)

    def zeros(self, shape: Any, dtype: Any) -> ReferenceBuffer:
        return self.upload(np.zeros(shape, dtype))

    def launch(
        self, kernel: str, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, shared_bytes: int = 0
    ) -> None:
        arguments = [a.buffer if isinstance(a, ReferenceBuffer) else a for a in args]
        plain = [a.item() if isinstance(a, np.generic) else a for a in arguments]
        self.steps += self.reference.launch(kernel, grid, block, plain, shared_bytes)
