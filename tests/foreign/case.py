"""One launch of a foreign kernel with its expected results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Case:
    """``arguments`` in order (arrays become buffers), and what the arrays at some places must hold afterwards.

    ``ulps`` is how far a float may be from the reference, in units of the last place: 0 means bit for bit;
    ``absolute`` is a distance that is always allowed.
    """

    grid: Any
    block: Any
    arguments: tuple[Any, ...]
    expected: dict[int, NDArray[Any]]
    ulps: int = 0
    absolute: float = 0
    shared_bytes: int = 0
