"""Types of columns and views of a memory system's arrays; at run time, they are ints and arrays."""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from warpreg.timing.core.typed import Column

R = TypeVar("R")
V = TypeVar("V")

Halves: TypeAlias = NDArray[np.int32]


class Records(Protocol[R]):
    """Rows of one component, identified by their indices."""

    def __getitem__(self, key: tuple[int, Column[R, V]], /) -> V: ...

    def __setitem__(self, key: tuple[int, Column[R, V]], value: V, /) -> None: ...

    def __len__(self) -> int: ...
