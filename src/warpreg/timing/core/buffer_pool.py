"""Buffer pool reused across launches, which avoids allocating and clearing memory again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

_pool: list[Array] = []


def room(words: int) -> Array:
    """A buffer of at least ``words`` words, not cleared: the smallest one of the pool that suffices, or a new one."""
    enough = [index for index, one in enumerate(_pool) if one.size >= words]
    if not enough:
        return np.empty(words, np.int64)
    return _pool.pop(min(enough, key=lambda index: _pool[index].size))


def keep(arrays: Iterable[Array]) -> None:
    """Replace the contents of the pool by the buffers of these arrays that nothing else references."""
    _pool[:] = [array.base for array in arrays if isinstance(array.base, np.ndarray)]
