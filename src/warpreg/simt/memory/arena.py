"""Global memory of a device: a set of buffers in one host arena, at device addresses that are the same in every run."""

from __future__ import annotations

import bisect
import sys
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.ir.errors import WarpregError
from warpreg.simt.memory import huge_pages

ALIGNMENT = 256
"""Alignment of buffers and minimum gap between them, so that an overrun hits no other buffer and a whole row of lanes
may be read at a buffer's last element."""


MAX_KEPT = 128 << 20
"""Bytes of host memory that are left to later devices of the process: the system clears the pages of new memory."""


@dataclass(eq=False)
class _Arena:
    """Host memory, zero from ``used`` on."""

    content: NDArray[np.uint8]
    used: int = 0

    def __post_init__(self) -> None:
        self.at = int(self.content.ctypes.data)
        """The host address."""

    @staticmethod
    def of(least: int, size: int) -> _Arena:
        """Memory of at least ``least`` bytes: that of an earlier device, or ``size`` new ones.  Raises MemoryError and
        ValueError."""
        fitting = [arena for arena in _FREE if arena.content.size >= least]
        try:
            found = min(fitting, key=lambda arena: arena.content.size)
            _FREE.remove(found)
        except ValueError:  # none fits, or another thread has taken it
            return _Arena(huge_pages.zeroed(size))
        return found

    def leave(self) -> None:
        """Leave it to later devices, unless an array still shows it: it is the base of all that do."""
        is_base = not isinstance(self.content.base, np.ndarray)
        if is_base and sys.getrefcount(self.content) <= OWN_REFERENCES:
            _FREE.append(self)
            while sum(arena.content.size for arena in _FREE) > MAX_KEPT:
                _FREE.pop(0)


def _leave(held: list[_Arena]) -> None:
    held[0].leave()


OWN_REFERENCES = 2
"""References to the content of an arena that nobody else shows: its own, and the argument of the count."""

_FREE: list[_Arena] = []


@dataclass(frozen=True, slots=True)
class Extent:
    """The place of a buffer."""

    name: str
    address: int
    bytes: int


@dataclass(frozen=True, eq=False)
class Buffer:
    """A piece of global memory that holds an array.  ``address`` is its device address."""

    memory: GlobalMemory
    name: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def download(self) -> NDArray[Any]:
        """A copy of the content, with the buffer's shape and dtype."""
        return self.memory.bytes_at(self.address, self.bytes).view(self.dtype).reshape(self.shape).copy()

    def write(self, array: NDArray[Any]) -> None:
        """Replace the content.  Raises WarpregError unless ``array`` has the buffer's shape and dtype."""
        if array.shape != self.shape or array.dtype != self.dtype:
            expected, found = f"{self.dtype}{list(self.shape)}", f"{array.dtype}{list(array.shape)}"
            raise WarpregError(f"buffer '{self.name}': expected an array {expected}, found {found}")
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.memory.bytes_at(self.address, self.bytes)[:] = content


class GlobalMemory:
    """Buffers in the order of their allocation, which is the order of their addresses, from ``base`` on."""

    def __init__(self, base: int = GLOBAL_BASE) -> None:
        self.base = base
        self._held = [_Arena.of(1 << 20, 1 << 20)]
        weakref.finalize(self, _leave, self._held).atexit = False
        self._cleared = 0
        self._next = base
        self._starts: list[int] = []
        self._table: NDArray[np.uint64] | None = None
        self.table_at = 0
        """The host address of the last `table`."""
        self.buffers: list[Extent] = []
        """Not the buffers themselves, so that memory is free as soon as nobody needs it."""

    def allocate(
        self, shape: int | Sequence[int], dtype: DTypeLike, name: str = "", alignment: int = ALIGNMENT
    ) -> Buffer:
        """A new buffer, filled with zeros, at a multiple of ``alignment`` if that is a larger power of two."""
        extent = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self._next = -(-self._next // alignment) * alignment
        buffer = Buffer(self, name or f"buffer {len(self.buffers)}", self._next, extent, np.dtype(dtype))
        self.reserve(buffer.bytes)
        self.buffers.append(Extent(buffer.name, buffer.address, buffer.bytes))
        self._starts.append(buffer.address)
        self._table = None
        return buffer

    def reserve(self, size: int) -> int:
        """Reserve ``size`` bytes for a later buffer, with a gap after them; returns the address."""
        address = self._next
        following = (address + size + 2 * ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self._grow(following - self.base)
        self._clear(following - self.base)
        self._next = following
        return address

    def _clear(self, end: int) -> None:
        """Clear the arena up to ``end``, as far as that has not been done."""
        self._arena.content[self._cleared : min(end, self._arena.used)] = 0
        self._arena.used = max(self._arena.used, end)
        self._cleared = end

    @property
    def _arena(self) -> _Arena:
        return self._held[0]

    def insert(self, address: int, size: int, name: str) -> None:
        """Create a buffer in reserved bytes."""
        at = bisect.bisect_left(self._starts, address)
        self.buffers.insert(at, Extent(name, address, size))
        self._starts.insert(at, address)
        self._table = None

    def remove(self, address: int) -> None:
        """Remove the buffer at ``address``; its bytes remain reserved."""
        at = self._starts.index(address)
        del self.buffers[at], self._starts[at]
        self._table = None

    def _grow(self, needed: int) -> None:
        size = self._arena.content.size
        if needed > size:
            try:
                arena = _Arena.of(needed, max(needed, 2 * size))
            except (MemoryError, ValueError):  # ValueError: beyond what an array can have at all
                raise WarpregError(f"{needed} bytes of global memory do not fit into this machine's memory") from None
            used = self._next - self.base
            arena.content[:used] = self._arena.content[:used]
            arena.used = max(arena.used, used)
            self._arena.leave()
            self._held[0] = arena

    def bytes_at(self, address: int, size: int) -> NDArray[np.uint8]:
        """The host bytes of a device address range; a view that the next allocation may invalidate."""
        first = address - self.base
        return self._arena.content[first : first + size]

    @property
    def end(self) -> int:
        """The first device address after all buffers."""
        return self._next

    @property
    def bias(self) -> int:
        """Host address minus device address, valid until the next allocation."""
        return self._arena.at - self.base

    def table(self) -> NDArray[np.uint64]:
        """(first, end) device addresses of all buffers, ascending; shape (buffers, 2).  A new array after a change."""
        if self._table is None:
            rows = [(b.address, b.address + b.bytes) for b in self.buffers]
            self._table = np.array(rows, np.uint64).reshape(len(rows), 2)
            self.table_at = self._table.ctypes.data
        return self._table

    def nearest(self, address: int) -> str:
        """A description of an address relative to the nearest buffer."""
        if not self.buffers:
            return "there are no buffers"
        at = bisect.bisect_right(self._starts, address)
        near = self.buffers[max(0, at - 1) : at + 1]
        closest = min(near, key=lambda b: max(b.address - address, address - (b.address + b.bytes - 1)))
        where = f"'{closest.name}' ({closest.bytes} bytes at {closest.address:#x})"
        if address < closest.address:
            return f"{closest.address - address} bytes before {where}"
        past = address - (closest.address + closest.bytes)
        return (
            f"{past} bytes past the end of {where}" if past >= 0 else f"at byte {address - closest.address} of {where}"
        )
