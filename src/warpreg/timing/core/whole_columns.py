"""Whole columns of the rows of a component, for code that runs before or after the core."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from warpreg.timing.core.columns import machine, schedulers
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    AccountRow,
    Array,
    BankRow,
    CollectorRow,
    Column,
    GroupRow,
    OpRow,
    Row,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
    array_of,
)

R = TypeVar("R")


class WholeColumns(Generic[R]):
    """``rows`` int64[rows of the component, words per row]; indexing with a column selects it in all rows."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    def __getitem__(self, column: Column[R, Any]) -> Array:
        return self.rows[:, column]

    def __setitem__(self, column: Column[R, Any], values: Any) -> None:
        self.rows[:, column] = values


def sms_of(core: Core) -> WholeColumns[SmRow]:
    return WholeColumns(array_of(core.table))


def warps_of(core: Core) -> WholeColumns[WarpRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_WARP], m[machine.SLOTS], m[machine.WARP_ROW]))


def schedulers_of(core: Core) -> WholeColumns[SchedulerRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_SCHEDULER], m[machine.SCHEDULERS], m[machine.SCHEDULER_ROW]))


def accounts_of(core: Core) -> WholeColumns[AccountRow]:
    return WholeColumns(schedulers_of(core).rows[:, schedulers.ACCOUNT :])


def groups_of(core: Core) -> WholeColumns[GroupRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_GROUP], m[machine.GROUPS], m[machine.GROUP_ROW]))


def collectors_of(core: Core) -> WholeColumns[CollectorRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_COLLECTOR], m[machine.COLLECTORS], m[machine.COLLECTOR_ROW]))


def banks_of(core: Core) -> WholeColumns[BankRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_BANK], m[machine.BANKS], m[machine.BANK_ROW]))


def units_of(core: Core) -> WholeColumns[UnitsRow]:
    m = core.machine
    return WholeColumns(_rows(core, m[machine.FIRST_UNITS], m[machine.UNITS], m[machine.UNITS_ROW]))


def ops_of(core: Core) -> WholeColumns[OpRow]:
    """All operations, those that are not in use included."""
    words = words_of(core)[core.machine[machine.FIRST_OP] :]
    return WholeColumns(words.reshape(-1, core.machine[machine.OP_ROW]))


def words_of(core: Core) -> Array:
    """The memory of all rows, int64[words]."""
    return array_of(core.rows)[:, 0]


def _rows(core: Core, first: Row, of_sm: int, width: int) -> Array:
    """The rows of a component, of which each SM has ``of_sm``."""
    count = core.machine[machine.SMS] * of_sm
    return words_of(core)[first : first + count * width].reshape(count, width)
