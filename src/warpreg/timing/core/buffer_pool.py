"""Buffer pool reused across launches: what the host has given once need not be given, and cleared, again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

_pool: list[Array] = []


def room(words: int) -> Array:
    """So many words, of any value: the smallest buffer of the pool that is large enough, or fresh ones."""
    enough = [index for index, one in enumerate(_pool) if one.size >= words]
    if not enough:
        return np.empty(words, np.int64)
    return _pool.pop(min(enough, key=lambda index: _pool[index].size))


def keep(arrays: Iterable[Array]) -> None:
    """Keep the room that these arrays are parts of and that nobody uses any more, in place of what was kept before."""
    _pool[:] = [array.base for array in arrays if isinstance(array.base, np.ndarray)]
