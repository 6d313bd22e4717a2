"""State of a design: arrays with a declared scope, allocated and reset by the core that runs the design.

A design's ``init`` returns a NamedTuple.  A field made by ``per_warp(row)`` becomes an array with the warp as its first
index, of which every fresh warp starts with a copy of ``row``; a plain array or number is kernel-wide (hints, tables,
parameters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.errors import DesignError

Scope = Literal["warp", "pair", "scheduler", "sm"]
Scalar = TypeVar("Scalar", bound=np.generic)
NARROWEST_FIRST: tuple[Scope, ...] = ("warp", "pair", "scheduler", "sm")


class Row(np.ndarray[Any, Any]):
    """What one warp (pair of warps, scheduler, SM) starts with."""

    scope: Scope


def per_warp(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` for each warp: the register file cache, ORF, LRF, collector or counter of a warp."""
    return _row("warp", row)


def per_pair(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` for each pair of warps: a shared section and its lock."""
    return _row("pair", row)


def per_scheduler(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` for each scheduler: a register cache, a scratchpad, the active set."""
    return _row("scheduler", row)


def per_sm(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` for each SM: a shared register pool, free maps, an address mapping table."""
    return _row("sm", row)


def _row(scope: Scope, row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    scoped = np.ascontiguousarray(row).reshape(np.shape(row)).view(Row)
    scoped.scope = scope
    return scoped


@dataclass(frozen=True, slots=True)
class Field:
    """One allocated field: ``value`` is what hooks see.

    ``reset`` is empty for a kernel-wide field; for warp scope it is the same storage as [warp, element], and what each
    warp starts with, [element].
    """

    name: str
    value: Any
    reset: tuple[()] | tuple[NDArray[Any], NDArray[Any]] = ()


def allocate(design: str, state: tuple[Any, ...], warps: int) -> tuple[Field, ...]:
    """The fields of a state, warp scope replicated ``warps`` times.

    Raises DesignError for a scope wider than a warp, which needs a recorded schedule, and for a field of another kind.
    """
    names: tuple[str, ...] = getattr(state, "_fields", ())
    return tuple(_allocated(design, name, value, warps) for name, value in zip(names, state, strict=True))


def _allocated(design: str, name: str, value: Any, warps: int) -> Field:
    if isinstance(value, Row):
        if value.scope != "warp":
            raise DesignError(
                f"{design}: state {name} is shared by warps (per_{value.scope}), so it needs a recorded schedule"
            )
        plain = np.array(value, subok=False)
        value = np.repeat(plain[np.newaxis], warps, axis=0)
        return Field(name, value, (value.reshape(warps, -1), plain.reshape(-1)))
    if isinstance(value, np.ndarray):
        return Field(name, np.ascontiguousarray(value))
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return Field(name, int(value))
    if isinstance(value, (float, np.floating)):
        return Field(name, float(value))
    raise DesignError(
        f"{design}: state {name} is a {type(value).__name__}, expected an array, per_warp(row) or a number"
    )
