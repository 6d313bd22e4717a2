"""One launch for the GPU: code, configuration, arguments and the memory it starts from; and its reply."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

VERSION = re.compile(r"(?m)^(\s*\.version\s+)(\d+)\.(\d+)")
TARGET = re.compile(r"(?m)^(\s*\.target\s+)sm_(\d+)([af]?)")


@dataclass(frozen=True, slots=True)
class TextureObject:
    """A texture or surface."""

    argument: int
    """The one that takes its handle."""
    address: int
    """Where its texels are in memory."""
    kind: str
    """A kind of `warpreg.simt.texture.arrays`."""
    width: int
    height: int
    depth: int
    layers: int
    channels: int
    element: str
    """Name of a NumPy dtype."""
    is_normalized_read: bool = False
    addresses: tuple[str, ...] = ()
    """Address modes; a surface has none, and its texels are copied back."""
    is_linear: bool = False
    """Filtered between texels."""
    is_normalized: bool = False
    is_memory: bool = False
    """Linear memory instead of an array."""

    @property
    def is_surface(self) -> bool:
        return not self.addresses


@dataclass(frozen=True, slots=True)
class Request:
    """A launch."""

    ptx: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[bytes, ...]
    """The bytes of the parameters, pointers into ``memory`` among them."""
    memory: bytes
    """The content of global memory from its base on."""
    variables: tuple[tuple[str, int, int], ...] = ()
    """Module variables as (name, offset in memory, bytes): the driver has them elsewhere, so their contents are copied
    before and after the launch.
    """
    objects: tuple[TextureObject, ...] = ()
    is_cooperative: bool = False
    stack_bytes: int = 0
    level: int = 4
    """Optimization level of the driver's compiler; at 0, it fuses no products with sums."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a launch left: the content of memory, or the reason why there is none in ``error``.

    ``registers`` is the number per thread that NVIDIA's compiler chose, ``hidden`` the variables whose contents the
    driver does not show, ``notes`` what was changed in the PTX so that the driver accepts it.  After a fault of the
    kernel, ``is_fault``, the process can run no other launch.
    """

    memory: bytes = b""
    registers: int = 0
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    is_fault: bool = False


def accepted(ptx: str, driver: tuple[int, int], capability: int) -> tuple[str, tuple[str, ...]]:
    """The text with a version and a target that the driver can know, and what was changed.

    ``driver`` is the newest PTX version that it reads, ``capability`` the number of the GPU's architecture (90).
    """
    notes = []
    version, target = VERSION.search(ptx), TARGET.search(ptx)
    if version is not None and (int(version[2]), int(version[3])) > driver:
        notes.append(f".version {version[2]}.{version[3]} lowered to {driver[0]}.{driver[1]}")
        ptx = VERSION.sub(rf"\g<1>{driver[0]}.{driver[1]}", ptx, count=1)
    if target is not None and (int(target[2]) > capability or (target[3] and int(target[2]) != capability)):
        notes.append(f".target sm_{target[2]}{target[3]} replaced by sm_{capability}a")
        ptx = TARGET.sub(rf"\g<1>sm_{capability}a", ptx, count=1)
    return ptx, tuple(notes)


def visible(ptx: str, names: Iterable[str]) -> str:
    """The text with these module variables visible to the driver, which need not find others."""
    for name in names:
        ptx = re.sub(
            rf"(?m)^(\s*)(\.(?:global|const)\s[^;=]*?[\s]{re.escape(name)}\s*[\[;=])", r"\1.visible \2", ptx, count=1
        )
    return ptx


def newest_ptx(driver: int) -> tuple[int, int]:
    """The newest PTX version of a driver version as `cuDriverGetVersion` returns it: 13000 reads PTX 9.0, 12080 8.7.

    CUDA 12.0 came with PTX 8.0, and 13.0 with 9.0 (PTX ISA, "Release Notes").  In between, PTX 8.3 belongs to 12.3, 8.5
    to 12.5 and 12.6, 8.6 to 12.7, 8.7 to 12.8 and 8.8 to 12.9.
    """
    major, minor = driver // 1000, driver % 1000 // 10
    if major == 12:
        return 8, minor - (minor >= 6)
    return major - 4, minor
