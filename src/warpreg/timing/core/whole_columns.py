"""Whole columns of the rows of a component, for code that runs before or after the core."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from warpreg.timing.core.columns import machine
from warpreg.timing.core.columns.typed import (
    AccountRow,
    Array,
    BankRow,
    CollectorRow,
    Column,
    GroupRow,
    Machine,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
    Words,
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


def sms_of(table: Array, m: Words[Machine]) -> WholeColumns[SmRow]:
    return WholeColumns(table[: m[machine.SMS]])


def warps_of(table: Array, m: Words[Machine]) -> WholeColumns[WarpRow]:
    return WholeColumns(table[m[machine.FIRST_WARP] : m[machine.FIRST_SCHEDULER]])


def schedulers_of(table: Array, m: Words[Machine]) -> WholeColumns[SchedulerRow]:
    first = m[machine.FIRST_SCHEDULER]
    return WholeColumns(table[first : first + m[machine.SMS] * m[machine.SCHEDULERS]])


def accounts_of(table: Array, m: Words[Machine]) -> WholeColumns[AccountRow]:
    first = m[machine.FIRST_SCHEDULER] + m[machine.TO_ACCOUNT] // m[machine.ROW]
    return WholeColumns(table[first : first + m[machine.SMS] * m[machine.SCHEDULERS]])


def groups_of(table: Array, m: Words[Machine]) -> WholeColumns[GroupRow]:
    return WholeColumns(table[m[machine.FIRST_GROUP] : m[machine.FIRST_COLLECTOR]])


def collectors_of(table: Array, m: Words[Machine]) -> WholeColumns[CollectorRow]:
    return WholeColumns(table[m[machine.FIRST_COLLECTOR] : m[machine.FIRST_BANK]])


def banks_of(table: Array, m: Words[Machine]) -> WholeColumns[BankRow]:
    return WholeColumns(table[m[machine.FIRST_BANK] : m[machine.FIRST_BLOCK]])


def units_of(table: Array, m: Words[Machine]) -> WholeColumns[UnitsRow]:
    return WholeColumns(table[m[machine.FIRST_UNITS] : m[machine.FIRST_OP]])
