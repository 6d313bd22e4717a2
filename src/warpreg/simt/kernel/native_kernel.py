"""A kernel as native code: compiled blocks, their memory operations, and the tables of the driver."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel
from warpreg.simt.block.native_records import BLOCK_BYTES, SITE_BYTES, STACK_ENTRIES, BlockField, SiteField, Slot, Step
from warpreg.simt.kernel.warp_driver import Driver
from warpreg.simt.llvm import object_code

if TYPE_CHECKING:
    from warpreg.simt.block.sites import NativeOperation
    from warpreg.simt.block.tracked import Tracked
    from warpreg.simt.kernel.block_ends import End
    from warpreg.simt.launch.launch_memory import LaunchMemory


@dataclass(frozen=True)
class Record:
    """Contents of a recording: the ``path`` of warps, lane ``addresses`` of memory instructions, ``widths`` of
    values, their ``patterns`` (with the widths).
    """

    path: bool = False
    addresses: bool = False
    widths: bool = False
    patterns: bool = False

    @property
    def values(self) -> bool:
        """Whether something of the values is recorded."""
        return self.widths or self.patterns

    @property
    def watch(self) -> tuple[tuple[Slot, Slot], ...]:
        """Position and limit of the buffers that blocks fill."""
        streams = (
            (self.addresses, Slot.ADDRESSES, Slot.ADDRESSES_LIMIT),
            (self.values, Slot.WIDTHS, Slot.WIDTHS_LIMIT),
        )
        return tuple((field, limit) for wanted, field, limit in streams if wanted)

    @property
    def any(self) -> bool:
        return self.path or self.addresses or self.values


@dataclass(frozen=True)
class Image:
    """A compiled kernel as stored in the disk cache: code and tables without addresses."""

    kernel: Kernel
    code: bytes
    register_bytes: int
    contents: tuple[int, int]
    """The part of a warp's register memory, offset and bytes, that holds the contents of registers."""
    symbols: tuple[str, ...]
    sites: tuple[tuple[int, bool], ...]
    """The pc of each memory instruction and whether it has a guard."""
    operations: tuple[NativeOperation, ...]
    ends: tuple[End, ...]
    """Those of the blocks."""
    reads_clock: bool
    has_stack: bool
    """Whether threads need a stack."""
    waits: bool
    is_cooperative: bool
    """Whether thread blocks wait for each other and run concurrently."""
    taints: Tracked | None = None
    """Those that the code tracks."""


@dataclass(frozen=True)
class NativeKernel:
    """A loaded image: the tables that a launch needs, and the code to which they point."""

    image: Image
    block_table: NDArray[np.uint8]
    helpers: NDArray[np.uint64]
    run: int
    steps: tuple[int, ...]
    libraries: tuple[object_code.Library, ...]

    @property
    def kernel(self) -> Kernel:
        return self.image.kernel

    @functools.cached_property
    def entry(self) -> Callable[[int], int]:
        """The driver: takes the host address of a launch record, and returns a `Stop`."""
        return ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64)(self.run)

    @functools.cached_property
    def serves(self) -> bool:
        """Whether warps request host services."""
        return any(instruction.traits.is_service for instruction in self.kernel.instructions())

    @functools.cached_property
    def free_memory(self) -> list[LaunchMemory]:
        """The memory of the last launch, for the next one."""
        return []

    @functools.cached_property
    def longest_block(self) -> int:
        """Instructions of the longest basic block."""
        return max((len(block.instructions) for block in self.kernel.blocks), default=0)

    @functools.cached_property
    def unused_sites(self) -> NDArray[np.uint64]:
        """The records of memory instructions (`SiteField`) before a launch."""
        sites = np.zeros((max(1, len(self.image.sites)), SITE_BYTES // 8), np.uint64)
        sites[: len(self.image.sites), SiteField.GUARDED // 8] = [
            (1 << 64) - 1 if guarded else 0 for _, guarded in self.image.sites
        ]
        return sites


def load(image: Image, record: Record) -> NativeKernel:
    """Load an image."""
    library, driver = object_code.Library(image.code), _driver(record, image)
    operations = [_operation(operation) for operation in image.operations]
    return NativeKernel(
        image=image,
        block_table=_block_table(image, library),
        helpers=np.array([address for _, address in operations] or [0], np.uint64),
        run=driver.address("run"),
        steps=tuple(driver.address(step.name.lower()) for step in _steps(image)),
        libraries=(library, driver, *(library for library, _ in operations)),
    )


def _steps(image: Image) -> list[Step]:
    """The steps of the driver that an image needs."""
    return [step for step in Step if image.kernel.machine_code or step <= Step.ENDED]


def _operation(operation: NativeOperation) -> tuple[object_code.Library, int]:
    library = object_code.cached_library(repr(operation), operation.module)
    return library, library.address(operation.name)


def _driver(record: Record, image: Image) -> object_code.Library:
    driver = Driver(
        record.path,
        record.watch,
        STACK_ENTRIES,
        keep_clock=image.reads_clock,
        yields=image.waits,
        side_by_side=image.is_cooperative,
        groups=bool(image.kernel.machine_code),
    )
    return object_code.cached_library(repr(driver), driver.module)


def _block_table(image: Image, library: object_code.Library) -> NDArray[np.uint8]:
    table = np.zeros((max(1, len(image.ends)), BLOCK_BYTES), np.uint8)
    for index, end in enumerate(image.ends):
        words = (end.kind, end.target, end.fall, end.meeting, end.instructions)
        longs = table[index].view(np.uint64)
        longs[BlockField.FUNCTION // 8] = library.address(f"block_{index}")
        table[index].view(np.uint32)[BlockField.KIND // 4 : BlockField.INSTRUCTIONS // 4 + 1] = words
        if end.resumes:
            longs[BlockField.RESUME // 8] = library.address(f"resume_{index}")
    return table.reshape(-1)
