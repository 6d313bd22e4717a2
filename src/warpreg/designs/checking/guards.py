"""Guards of loops and of elements of what an expression returns; those of `piecewise_numba.guards` are the others."""

from __future__ import annotations

from typing import Any

from piecewise_numba.fault_record import fault_record
from piecewise_numba.guards import at, fail, only
from warpreg.designs.checking import words


def item(site: int, kind: int, sequence: Any, index: Any) -> Any:
    """An element of what an expression with effects returns."""
    return sequence[only(site, kind, sequence, index)]


def item_2(site: int, kind: int, array: Any, row: Any, column: Any) -> Any:
    """The same of two dimensions."""
    return array[at(site, kind, array, 0, row), at(site, kind, array, 1, column)]


def bounded(site: int, kind: int, steps: range) -> range:
    """What a loop goes over."""
    record = fault_record()
    record[words.TURNS] += len(steps)
    if not 0 <= record[words.TURNS] <= words.MAX_TURNS:
        fail(site, kind, 0, 0, words.MAX_TURNS)
    return steps


def turn(site: int, kind: int) -> bool:
    """One more step of a loop; a part of its condition."""
    record = fault_record()
    record[words.TURNS] += 1
    if record[words.TURNS] > words.MAX_TURNS:
        fail(site, kind, 0, 0, words.MAX_TURNS)
    return True
