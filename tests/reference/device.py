"""The reference interpreter with the interface of a device, so that host code for the executor runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.reference.interpreter import Buffer, Reference
from tests.reference.textures import Image, ReferenceSurface, ReferenceTexture

FIRST_HANDLE = 0x7000


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


class ReferenceObject:
    """A surface: its handle, and the image that kernels write."""

    def __init__(self, handle: int, image: Image) -> None:
        self.handle = handle
        self.image = image

    def download(self) -> np.ndarray:
        return np.frombuffer(bytes(self.image.data), self.image.dtype).reshape(self.image.shape)


class ReferenceDevice:
    """Uploads, zeros and launches, as of `warpreg.simt.Device`; ``steps`` counts thread-instructions."""

    def __init__(self, text: str) -> None:
        self.reference = Reference(text)
        self.steps = 0

    def upload(self, array: np.ndarray, /) -> ReferenceBuffer:
        return ReferenceBuffer(self.reference.buffer(np.ascontiguousarray(array).tobytes()), array.shape, array.dtype)

    def zeros(self, shape: Any, dtype: Any) -> ReferenceBuffer:
        return self.upload(np.zeros(shape, dtype))

    def texture(
        self,
        array: np.ndarray,
        kind: str = "2d",
        *,
        address: str | Sequence[str] = "clamp",
        filter: str = "point",
        normalized: bool = False,
        read: str = "element",
    ) -> int:
        """The handle of a texture over a copy of an array."""
        x, y, z = (address,) * 3 if isinstance(address, str) else (*address, address[-1], address[-1])[:3]
        normalized = normalized or kind.startswith("cube")
        return self._handle(ReferenceTexture(self._image(array, kind), (x, y, z), filter, normalized, read))

    def surface(self, array: np.ndarray, kind: str = "2d") -> ReferenceObject:
        """A surface over a copy of an array."""
        image = self._image(array, kind)
        return ReferenceObject(self._handle(ReferenceSurface(image)), image)

    def _image(self, array: np.ndarray, kind: str) -> Image:
        return Image(bytearray(np.ascontiguousarray(array).tobytes()), array.shape, array.dtype, kind)

    def _handle(self, made: ReferenceTexture | ReferenceSurface) -> int:
        known = self.reference.compiled.places.textures
        known[FIRST_HANDLE + len(known)] = made
        return FIRST_HANDLE + len(known) - 1

    def launch(
        self, kernel: str, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, shared_bytes: int = 0
    ) -> None:
        held = [a.handle if isinstance(a, ReferenceObject) else a for a in args]
        arguments = [a.buffer if isinstance(a, ReferenceBuffer) else a for a in held]
        plain = [a.item() if isinstance(a, np.generic) else a for a in arguments]
        self.steps += self.reference.launch(kernel, grid, block, plain, shared_bytes)
