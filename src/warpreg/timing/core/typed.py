"""Types of rows, columns and views of the core's arrays.

The type of a row id names its component.  A `Column` belongs to one type of row and states the type of its words.  A
view accepts a column only together with a row, or an array, of the same component.  There is no cost at run time: rows
and columns are plain ints, views are int64 arrays.

A *list* is linked through a column that names the next row; NONE ends it.  A *set* is the bits of one word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NewType, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]

NONE: Any = -1
"""No row or number, for every type."""
NEVER = 1 << 60
"""A cycle later than all others."""
SET_SIZE = 64

Row = NewType("Row", int)
"""A row of ``Core.rows``: the number of words before it."""
WarpRow = NewType("WarpRow", Row)
SchedulerRow = NewType("SchedulerRow", Row)
AccountRow = NewType("AccountRow", Row)
UnitsRow = NewType("UnitsRow", Row)
GroupRow = NewType("GroupRow", Row)
CollectorRow = NewType("CollectorRow", Row)
BankRow = NewType("BankRow", Row)
BlockRow = NewType("BlockRow", Row)
OpRow = NewType("OpRow", Row)

SmRow = NewType("SmRow", int)
"""A row of ``Core.table``: the index of an SM."""
Pc = NewType("Pc", int)
"""A row of ``Core.code``: the index of an instruction in its kernel."""
LineRow = NewType("LineRow", int)
"""A row of ``Core.lines``."""
Machine = NewType("Machine", int)
Clock = NewType("Clock", int)
"""Types of the single rows ``Core.machine`` and ``Core.clock``."""

TeamRow = NewType("TeamRow", int)
"""A row of ``Core.team``."""

R = TypeVar("R")
V = TypeVar("V")
RowT = TypeVar("RowT", bound=Row)


class Column(Generic[R, V]):
    """A column of the rows ``R`` with words of type ``V``.  At run time, the call returns its plain number."""

    def __new__(cls, number: int) -> Column[R, V]:
        return cast("Column[R, V]", number)

    if TYPE_CHECKING:

        def __index__(self) -> int: ...

        def __add__(self, further: int) -> Column[R, V]: ...


class Rows(Protocol):
    """Rows of several components, each identified by a `Row`."""

    def __getitem__(self, key: tuple[RowT, Column[RowT, V]], /) -> V: ...

    def __setitem__(self, key: tuple[RowT, Column[RowT, V]], value: V, /) -> None: ...


class Table(Protocol[R]):
    """Rows of one component, identified by their index."""

    def __getitem__(self, key: tuple[R, Column[R, V]], /) -> V: ...

    def __setitem__(self, key: tuple[R, Column[R, V]], value: V, /) -> None: ...


class Words(Protocol[R]):
    """A single row."""

    def __getitem__(self, column: Column[R, V], /) -> V: ...

    def __setitem__(self, column: Column[R, V], value: V, /) -> None: ...


def array_of(view: Any) -> Array:
    """The array behind a view, for code that reads whole columns."""
    return cast("Array", view)
