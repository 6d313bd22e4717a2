"""Textures and surfaces as values independent of a device: an array and its sampling options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from warpreg.simt.launch.device import Device
from warpreg.simt.texture.arrays import Address, Filter, Kind, Read
from warpreg.simt.texture.objects import Surface, Texture


@dataclass(frozen=True, eq=False)
class TextureArgument:
    """An array, or several as levels, that a call reads as a texture; the fields are the arguments of
    `Device.texture`."""

    array: NDArray[Any] | Sequence[NDArray[Any]]
    kind: Kind = "2d"
    address: Address | Sequence[Address] = "clamp"
    filter: Filter = "point"
    normalized: bool = False
    read: Read = "element"

    def on(self, device: Device) -> Texture:
        """The texture on a device.  Raises TextureError."""
        return device.texture(
            self.array,
            self.kind,
            address=self.address,
            filter=self.filter,
            normalized=self.normalized,
            read=self.read,
        )

    def __str__(self) -> str:
        return f"texture {self.kind} {self.address} {self.filter} {self.normalized} {self.read}"


@dataclass(frozen=True, eq=False)
class SurfaceArgument:
    """An array that a call reads and writes as a surface; the fields are the arguments of `Device.surface`."""

    array: NDArray[Any]
    kind: Kind = "2d"

    def on(self, device: Device) -> Surface:
        """The surface on a device.  Raises TextureError."""
        return device.surface(self.array, self.kind)

    def __str__(self) -> str:
        return f"surface {self.kind}"
