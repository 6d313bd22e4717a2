"""The heap of a device for ``malloc`` and ``free`` in kernels (CUDA C++ Programming Guide, "Dynamic Global Memory
Allocation").

Each allocation is a separate buffer, so that out-of-bounds accesses and uses after free are detected.  Allocations
outlive a launch.  Freed ranges are reused for allocations of similar size, so memory does not grow.
"""

from __future__ import annotations

from warpreg.simt.memory.arena import ALIGNMENT, GlobalMemory

HEAP_BYTES = 8 << 20
"""Default size, as that of ``cudaLimitMallocHeapSize``."""

GRAIN = 16
"""Alignment and granularity of allocations."""


class Heap:
    """``bytes`` in all, of which ``used`` are taken."""

    def __init__(self, memory: GlobalMemory, size: int = HEAP_BYTES) -> None:
        self.memory = memory
        self.bytes = size
        self.used = 0
        self._sizes: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}

    def allocate(self, size: int) -> int:
        """The address of ``size`` bytes; 0 if the heap is exhausted, and for a size of 0."""
        taken = -(-size // GRAIN) * GRAIN
        if size == 0 or self.used + taken > self.bytes:
            return 0
        extent = _extent(taken)
        places = self._free.setdefault(extent, [])
        address = places.pop() if places else self.memory.reserve(extent)
        self.memory.insert(address, size, f"{size} bytes of the heap")
        self._sizes[address] = taken
        self.used += taken
        return address

    def release(self, address: int) -> bool:
        """Free an allocation; returns whether there was one at the address."""
        taken = self._sizes.pop(address, None)
        if taken is None:
            return False
        self.memory.remove(address)
        self.used -= taken
        self._free[_extent(taken)].append(address)
        return True


def _extent(taken: int) -> int:
    """Bytes of address space of an allocation: one of a few size classes, including the gap after a buffer."""
    extent = 2 * ALIGNMENT
    while extent < taken + ALIGNMENT:
        extent *= 2
    return extent
