"""Buffer pool reused across launches, which avoids allocating and clearing memory again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

BUFFERS = 8
"""Those of two launches: launches with one thread and with two, which need larger ones, often alternate."""
MAX_TIMES = 2
"""How many times as large as asked for a buffer may be; a larger one is left to a launch that needs it.  Chosen, not
measured.
"""

_pool: list[Array] = []


def room(words: int) -> Array:
    """A buffer of at least ``words`` words, not cleared: the smallest one of the pool that suffices, or a new one."""
    enough = [index for index, one in enumerate(_pool) if words <= one.size <= MAX_TIMES * words]
    if not enough:
        return np.empty(words, np.int64)
    return _pool.pop(min(enough, key=lambda index: _pool[index].size))


def keep(arrays: Iterable[Array]) -> None:
    """Return the buffers of these arrays, which nothing else references, to the pool, in place of those that have been
    there longest.
    """
    _pool.extend(array.base for array in arrays if isinstance(array.base, np.ndarray))
    del _pool[:-BUFFERS]
