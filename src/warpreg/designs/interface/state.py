"""State of a design: arrays with a declared scope, allocated and reset by the core that runs the design.

A design's ``init`` returns a NamedTuple.  A field made by ``per_warp(row)`` becomes an array with the warp as its first
index; each new warp starts with a copy of ``row``.  A plain array or number is shared by the kernel (hints, tables,
parameters), and hooks cannot write it.  ``per_pair``, ``per_scheduler`` and ``per_sm`` declare one row per pair of
warps, scheduler or SM; such a row is copied once, at the start of the run, and the index is ``pair_of``,
``scheduler_of`` or ``sm_of`` a warp.  ``per_kernel`` declares an array for all SMs that hooks may write.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.records import record_type
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program
from warpreg.trace import long_arrays

Scope = Literal["warp", "pair", "scheduler", "sm", "kernel"]
Scalar = TypeVar("Scalar", bound=np.generic)


class Row(np.ndarray[Any, Any]):
    """Initial row of one warp, pair of warps, scheduler or SM."""

    scope: Scope


def per_warp(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` per warp: register file cache, ORF, LRF, collector or counter."""
    return _row("warp", row)


def per_pair(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` per pair of warps: a shared section and its lock."""
    return _row("pair", row)


def per_scheduler(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` per scheduler: a register cache, a scratchpad, the active set."""
    return _row("scheduler", row)


def per_sm(row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    """One ``row`` per SM: a shared register pool, free maps, an address mapping table."""
    return _row("sm", row)


def per_kernel(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """One array for all SMs, which hooks may write: SMs are stepped cycle by cycle then, since their order matters."""
    return _row("kernel", array)


def _row(scope: Scope, row: NDArray[Scalar] | np.generic) -> NDArray[Scalar]:
    scoped = np.ascontiguousarray(row).reshape(np.shape(row)).view(Row)
    scoped.scope = scope
    return scoped


@dataclass(frozen=True, slots=True)
class Field:
    """One allocated field; ``value`` is what hooks see.

    ``reset`` is empty except for warp scope: there it is the same storage as [warp, element], and the initial row of a
    warp, [element].
    """

    name: str
    value: Any
    reset: tuple[()] | tuple[NDArray[Any], NDArray[Any]] = ()


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of rows per scope in a core; 0 if the core cannot distinguish them, such as a replay without a
    schedule.
    """

    warps: int
    pairs: int = 0
    schedulers: int = 0
    sms: int = 0

    @classmethod
    def of_sms(cls, sms: int, slots: int, schedulers: int) -> Extent:
        """The extent of ``sms`` SMs with ``slots`` warp slots and ``schedulers`` schedulers each."""
        return cls(sms * slots, (sms * slots + 1) // 2, sms * schedulers, sms)

    def rows(self, scope: Scope) -> int:
        """Number of rows of a field with this scope, which is narrower than a kernel."""
        return {"warp": self.warps, "pair": self.pairs, "scheduler": self.schedulers, "sm": self.sms}[scope]


def allocate(design: str, state: tuple[Any, ...], extent: Extent) -> tuple[Field, ...]:
    """Allocate the fields of a state, with one row per unit of their scope; of a composition, the fields of all
    designs.

    Raises DesignError for a scope wider than a warp if the extent has none, and for a field of another kind.
    """
    return tuple(_allocated(design, name, value, extent) for name, value in named_leaves(state))


def named_leaves(state: tuple[Any, ...], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a state with their names; those of inner states have dotted names."""
    for name, value in zip(getattr(state, "_fields", ()), state, strict=True):
        if isinstance(value, tuple):
            yield from named_leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def allocated_state(state: tuple[Any, ...], fields: tuple[Field, ...]) -> Any:
    """The state as hooks see it, 0 for a design without state."""
    return _record(state, iter(fields))


def _record(state: tuple[Any, ...], fields: Iterator[Field]) -> Any:
    if not state:
        return 0
    names = tuple(getattr(state, "_fields", ()))
    values = [_record(one, fields) if isinstance(one, tuple) else next(fields).value for one in state]
    return record_type("State", names)(*values)


class Resets(NamedTuple):
    """Initial rows of new warps: ``rows`` [warp, element] of one field, the row ``fresh`` [element], and the ``rest``
    of the fields, 0 after the last.
    """

    rows: NDArray[Any]
    fresh: NDArray[Any]
    rest: Any


def resets_of(fields: tuple[Field, ...]) -> Any:
    """The resets of all fields of warp scope."""
    resets: Any = 0
    for field in reversed(fields):
        if field.reset:
            resets = Resets(*field.reset, resets)
    return resets


def reset_rows(resets: Any, warp: int) -> None:
    """Reset the rows of a new warp; every core replaces it by `resetting`."""


def _reset_nothing(resets: Any, warp: int) -> None:
    """Replacement after the last field."""


def resetting(fields: tuple[Field, ...]) -> Function:
    """The replacement of `reset_rows` for these fields."""
    return _resetting(sum(bool(field.reset) for field in fields))


@functools.cache
def _resetting(count: int) -> Function:
    if count == 0:
        return _reset_nothing
    rest = _resetting(count - 1)

    def reset(resets: Any, warp: int) -> None:
        for index in range(resets.fresh.size):
            resets.rows[warp, index] = resets.fresh[index]
        rest(resets.rest, warp)

    return reset


def pair_of(program: Program, warp: int) -> int:
    """Index of a warp's pair in ``per_pair`` state; the other warp of the pair is ``warp ^ 1``."""
    return warp // 2


def scheduler_of(program: Program, warp: int) -> int:
    """Index of a warp's scheduler in ``per_scheduler`` state."""
    return warp // program.slots * program.schedulers + warp % program.slots % program.schedulers


def sm_of(program: Program, warp: int) -> int:
    """Index of a warp's SM in ``per_sm`` state."""
    return warp // program.slots


def wrong_leaf(value: Any) -> str:
    """What is wrong with the value of a field, empty if nothing is."""
    if isinstance(value, np.ndarray):
        fits = value.dtype.kind in "biu" or value.dtype in (np.float32, np.float64)
        return "" if fits else f"is an array of {value.dtype}, expected integers, booleans or floating-point numbers"
    if isinstance(value, (bool, float, np.bool_, np.integer, np.floating)):
        return ""
    if isinstance(value, int):
        return "" if -(1 << 63) <= value < 1 << 63 else f"is {value}, which has more than 64 bits"
    return f"is a {type(value).__name__}, expected an array, per_warp(row) or a number"


def _constant(array: NDArray[Any]) -> NDArray[Any]:
    """What hooks see of an array that the kernel shares: they cannot write it."""
    view = np.require(array, requirements="C").view()
    view.flags.writeable = False
    return view


def _allocated(design: str, name: str, value: Any, extent: Extent) -> Field:
    if isinstance(value, Row) and value.scope == "kernel":
        return Field(name, long_arrays.joined([value.reshape(-1).view(np.ndarray)]).reshape(value.shape))
    if isinstance(value, Row):
        rows = extent.rows(value.scope)
        if rows == 0:
            raise DesignError(
                f"{design}: state {name} is shared by warps (per_{value.scope}), so it needs a recorded schedule"
            )
        plain = np.array(value, subok=False)
        array = np.repeat(plain[np.newaxis], rows, axis=0)
        return Field(name, array, (array.reshape(rows, -1), plain.reshape(-1)) if value.scope == "warp" else ())
    if isinstance(value, np.ndarray):
        return Field(name, _constant(value))
    if isinstance(value, (bool, np.bool_)):
        return Field(name, bool(value))
    if isinstance(value, (int, np.integer)):
        return Field(name, int(value))
    if isinstance(value, (float, np.floating)):
        return Field(name, float(value))
    raise DesignError(
        f"{design}: state {name} is a {type(value).__name__}, expected an array, per_warp(row) or a number"
    )
