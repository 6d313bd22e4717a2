"""A stand-in for the GPU: the executor, given nothing but requests; and one that makes mistakes."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from warpreg import simt
from warpreg.checks.gpu.driver import GpuError, GpuFault
from warpreg.checks.gpu.request import Reply, Request, TextureObject
from warpreg.ir.errors import WarpregError

BASE = 0x7F32_1200_0000
REGISTERS = 17


class StandIn:
    """Runs requests on a device of its own, as far as its memory agrees with that of the request."""

    def __init__(self, size: int) -> None:
        self.base, self.size, self.name = BASE, size, "stand-in"

    def run(self, request: Request) -> Reply:
        device = simt.Device(request.ptx, None, memory_base=BASE)
        end = BASE + len(request.memory)
        if device.memory.end < end:
            device.zeros(end - device.memory.end, np.uint8)
        device.memory.bytes_at(BASE, len(request.memory))[:] = np.frombuffer(request.memory, np.uint8)
        kernel = device.kernel(request.kernel)
        arguments: list[Any] = [
            _argument(content, parameter.type.is_float)
            for content, parameter in zip(request.arguments, kernel.parameters, strict=True)
        ]
        surfaces = []
        for described in request.objects:
            made = self._object(device, described)
            arguments[described.argument] = made
            if described.is_surface:
                surfaces.append((described, made))
        try:
            device.launch(request.kernel, request.grid, request.block, *arguments, shared_bytes=request.shared_bytes)
        except WarpregError as error:
            raise GpuFault(str(error)) from None
        for described, surface in surfaces:
            content = surface.download().reshape(-1).view(np.uint8)
            device.memory.bytes_at(described.address, content.size)[:] = content
        return Reply(device.memory.bytes_at(BASE, len(request.memory)).tobytes(), REGISTERS)

    @staticmethod
    def _object(device: simt.Device, d: TextureObject) -> Any:
        extents = {"1d": (d.width,), "2d": (d.height, d.width), "3d": (d.depth, d.height, d.width)}
        shape = extents.get(d.kind, (d.layers, d.width) if d.kind == "1d-layered" else (d.layers, d.height, d.width))
        dtype = np.dtype(d.element)
        shape = (*shape, d.channels) if d.channels > 1 else shape
        size = int(np.prod(shape)) * dtype.itemsize
        texels = device.memory.bytes_at(d.address, size).view(dtype).reshape(shape).copy()
        if d.is_surface:
            return device.surface(texels, d.kind)  # type: ignore[arg-type]
        return device.texture(
            texels,
            d.kind,  # type: ignore[arg-type]
            address=d.addresses,  # type: ignore[arg-type]
            filter="linear" if d.is_linear else "point",
            normalized=d.is_normalized,
            read="normalized" if d.is_normalized_read else "element",
        )


def _argument(content: bytes, is_float: bool) -> object:
    if is_float:
        return np.frombuffer(content, f"f{len(content)}")[0]
    return int.from_bytes(content, "little") if len(content) in (1, 2, 4, 8) else content


class Wrong(StandIn):
    """Adds one to the last byte of memory that is not zero."""

    def run(self, request: Request) -> Reply:
        reply = super().run(request)
        content = bytearray(reply.memory)
        at = max(i for i, byte in enumerate(content) if byte)
        content[at] = (content[at] + 1) % 256
        return replace(reply, memory=bytes(content))


class Dying(StandIn):
    """Its process ends at a launch."""

    def run(self, request: Request) -> Reply:
        os._exit(3)


class Endless(StandIn):
    """A launch that takes too long."""

    def run(self, request: Request) -> Reply:
        time.sleep(60)
        return Reply()


class Absent(StandIn):
    """No GPU."""

    def __init__(self, size: int) -> None:
        raise GpuError("this machine has no NVIDIA driver: none")
