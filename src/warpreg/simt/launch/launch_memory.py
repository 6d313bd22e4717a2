"""The memory of one launch that native code uses: the launch record and what it points to.

A launch leaves it to the next one of the same kernel and shape: many launches are shorter than the time to make it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.lower.address_layout import align
from warpreg.ir.kernel import RESERVED_SHARED_BYTES, Kernel
from warpreg.simt.block.native_records import WARP_BYTES, Slot, Warp
from warpreg.simt.block.register_storage import THREAD_INDEX_BYTES
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.simt.memory.constant_words import literal_offset

SLICE = 200_000
"""Warp-instructions of a warp's turn before the next warp of the thread block runs."""

LONGEST_ROW = 32 * 8
"""Bytes of a register of 32 lanes."""

MAX_KEPT = 8 << 20
"""Memory of a kernel that is kept for its next launch, in bytes; what it held first takes as much."""

Dimensions = tuple[int, int, int]


@dataclass(frozen=True)
class Shape:
    """What the memory depends on: threads of a thread block, bytes of its shared memory (``dynamic`` of them chosen by
    the launch), bytes of a thread's local memory and its offset of the stack."""

    block: Dimensions
    shared_bytes: int
    dynamic: int
    local_bytes: int
    stack_base: int

    @property
    def warps(self) -> int:
        x, y, z = self.block
        return -(-x * y * z // 32)


class LaunchMemory:
    """Memory for launches of a kernel with one shape, one after the other."""

    def __init__(self, native: NativeKernel, shape: Shape) -> None:
        self.native, self.shape = native, shape
        self.launch = np.zeros(Slot.COUNT, np.uint64)
        stride = WARP_BYTES + native.image.register_bytes
        stride += 64 * (stride // 64 % 2 == 0)  # or else the same places of all warps would share sets of a cache
        self.warps = _aligned(shape.warps * stride).reshape(shape.warps, stride)
        """The record of each warp, and its registers."""
        self.shared = _aligned(shape.shared_bytes)
        self.local = _aligned(shape.warps * 32 * shape.local_bytes)
        self.sites = native.unused_sites.copy()
        self.visits = np.zeros(max(1, len(native.kernel.blocks)), np.uint64)
        self.parameters = np.zeros(_parameter_bytes(native.kernel), np.uint8)
        self.address = self.launch.ctypes.data
        """The host address of the launch record."""
        self._fill()
        indices, masks = _threads(shape.block)
        self.warps[:, WARP_BYTES : WARP_BYTES + THREAD_INDEX_BYTES] = indices
        self.warp_records[:, Warp.FIRST_MASK // 4] = masks
        arrays = (self.launch, self.warps, self.shared, self.local, self.sites, self.visits)
        self._first: list[tuple[memoryview, bytes]] = []
        if sum(array.nbytes for array in arrays) <= MAX_KEPT:
            self._first = [(array.reshape(-1).view(np.uint8).data, array.tobytes()) for array in arrays]

    @property
    def warp_records(self) -> NDArray[np.uint32]:
        """The records, as words."""
        return self.warps[:, :WARP_BYTES].view(np.uint32)

    @staticmethod
    def take(native: NativeKernel, shape: Shape) -> LaunchMemory:
        """Memory as after its construction: that of an earlier launch, or new."""
        try:
            memory = native.free_memory.pop()
        except IndexError:
            return LaunchMemory(native, shape)
        if memory.shape != shape:
            return LaunchMemory(native, shape)
        memory._restore()
        return memory

    def give_back(self) -> None:
        """Leave the memory to the next launch."""
        if self._first:
            self.native.free_memory[:] = [self]

    def _restore(self) -> None:
        """Fill the arrays with what they held first, in Python: NumPy would wait for the second thread each time."""
        for content, first in self._first:
            content[:] = first

    def _fill(self) -> None:
        """Fill the fields of the launch record that are the same in all launches."""
        native, shape, launch = self.native, self.shape, self.launch
        launch[Slot.SHARED_BYTES] = shape.shared_bytes
        launch[Slot.DYNAMIC_SHARED] = shape.dynamic
        if native.kernel.uses_reserved_shared:
            launch[Slot.RESERVED_SHARED] = shape.shared_bytes - RESERVED_SHARED_BYTES
        launch[Slot.LOCAL_BYTES] = shape.local_bytes
        launch[Slot.STACK_BASE] = shape.stack_base
        launch[Slot.WARP_COUNT] = shape.warps
        launch[Slot.REGISTERS] = self.warps.ctypes.data + WARP_BYTES
        launch[Slot.REGISTER_BYTES] = self.warps.shape[1]
        launch[Slot.CONTENTS], launch[Slot.CONTENTS_BYTES] = native.image.contents
        launch[Slot.NTID_X : Slot.NTID_Z + 1] = shape.block
        launch[Slot.IN_ROWS] = shape.block[0] % 32 == 0 or shape.block[1:] == (1, 1)
        launch[Slot.SLICE] = SLICE
        launch[Slot.STEPS : Slot.STEPS + len(native.steps)] = native.steps
        for field, array in (
            (Slot.SHARED, self.shared),
            (Slot.LOCAL, self.local),
            (Slot.SITES, self.sites),
            (Slot.HELPERS, native.helpers),
            (Slot.BLOCKS, native.block_table),
            (Slot.VISITS, self.visits),
            (Slot.PARAMETERS, self.parameters),
        ):
            launch[field] = array.ctypes.data


def _parameter_bytes(kernel: Kernel) -> int:
    """Bytes of constant bank 0, and of bank 2 in machine code."""
    if not kernel.machine_code:
        return max(8, kernel.parameter_bytes)
    return literal_offset(kernel) + align(len(kernel.literals), 4)


@functools.lru_cache(maxsize=64)
def _threads(block: Dimensions) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """By warp of a thread block: tid.x, tid.y and tid.z of its lanes as bytes, and the mask of existing lanes."""
    x, y, z = block
    threads = x * y * z
    thread = np.arange(-(-threads // 32) * 32, dtype=np.uint32)
    index = np.stack([thread % x, thread // x % y, thread // (x * y)]).reshape(3, -1, 32)
    present = (thread < threads).reshape(-1, 32)
    masks = (present * (np.uint64(1) << np.arange(32, dtype=np.uint64))).sum(axis=1).astype(np.uint32)
    return index.transpose(1, 0, 2).reshape(len(masks), 96).view(np.uint8), masks


def _aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed bytes aligned to 64, followed by host memory for the longest row of lanes."""
    raw = np.zeros(size + 64 + LONGEST_ROW, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size]
