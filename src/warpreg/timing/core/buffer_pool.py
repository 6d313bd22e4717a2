"""Buffer pool reused across launches, which avoids allocating and clearing memory again.

A buffer is in use as long as an array is a view of it, so nothing has to be returned.
"""

from __future__ import annotations

import sys
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

BUFFERS = 8
"""Free ones that are kept, those of two launches: launches with one thread and with two, which need larger ones, often
alternate.
"""
MAX_TIMES = 2
"""How many times as large as asked for a buffer may be; a larger one is left to a launch that needs it.  Chosen, not
measured.
"""
UNUSED = 2
"""References to a free buffer: that of the pool, and that of the call which counts them."""

_pool: list[Array] = []
"""The one that was asked for last is at the end."""
_lock = Lock()


def room(words: int) -> Array:
    """A buffer of at least ``words`` words, not cleared: the smallest free one that suffices, or a new one."""
    with _lock:
        free = [index for index in range(len(_pool)) if sys.getrefcount(_pool[index]) == UNUSED]
        enough = [index for index in free if words <= _pool[index].size <= MAX_TIMES * words]
        if enough:
            found = _pool.pop(min(enough, key=lambda index: _pool[index].size))
        else:
            found = np.empty(words, np.int64)
            for index in reversed(free[: max(0, len(free) - BUFFERS)]):
                del _pool[index]
        _pool.append(found)
        return found
