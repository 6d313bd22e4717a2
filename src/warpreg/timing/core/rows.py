"""Rows of components, by their indices in an SM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from warpreg.timing.core.columns import machine, sms, warps
from warpreg.timing.core.columns.typed import (
    AccountRow,
    BankRow,
    BlockRow,
    CollectorRow,
    GroupRow,
    OpRow,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)
from warpreg.timing.core.state import Core

if TYPE_CHECKING:

    def sm_rows(count: int) -> Iterable[SmRow]:
        """The rows of the first ``count`` SMs."""

    def sms_from(first: SmRow, end: int) -> Iterable[SmRow]:
        """The rows of the SMs from ``first`` on, before ``end``."""

else:
    sm_rows = sms_from = range


def following(sm: SmRow) -> Any:
    """The next SM."""
    return sm + 1


def _row(c: Core, index: int) -> Any:
    """The row at an index of ``table``."""
    return index * c.machine[machine.ROW]


def _further(c: Core, first: int, index: int) -> Any:
    """The row ``index`` rows after ``first``, of the same component."""
    return first + index * c.machine[machine.ROW]


def warp_at(c: Core, sm: SmRow, slot: int) -> WarpRow:
    """The warp in a slot of an SM."""
    return _row(c, c.machine[machine.FIRST_WARP] + sm * c.machine[machine.SLOTS] + slot)


def warp_of(c: Core, sm: SmRow, scheduler: int, position: int) -> WarpRow:
    """The warp at a position of a scheduler."""
    return warp_at(c, sm, position * c.machine[machine.SCHEDULERS] + scheduler)


def numbered_warp(c: Core, number: int) -> WarpRow:
    """The warp with the index that hooks use."""
    return _row(c, c.machine[machine.FIRST_WARP] + number)


def slot_of(c: Core, sm: SmRow, warp: WarpRow) -> int:
    """The slot of a warp in its SM."""
    return (warp - warp_at(c, sm, 0)) // c.machine[machine.ROW]


def number_of(c: Core, warp: WarpRow) -> int:
    """The index of a warp that hooks use: its slot, counted over all SMs."""
    return c.rows[warp, warps.NUMBER]


def scheduler_at(c: Core, sm: SmRow, scheduler: int) -> SchedulerRow:
    return _row(c, c.machine[machine.FIRST_SCHEDULER] + sm * c.machine[machine.SCHEDULERS] + scheduler)


def account_of(c: Core, scheduler: SchedulerRow) -> AccountRow:
    """The stall account of a scheduler."""
    account: Any = scheduler + c.machine[machine.TO_ACCOUNT]
    return account


def group_at(c: Core, sm: SmRow, group: int) -> GroupRow:
    return _row(c, c.machine[machine.FIRST_GROUP] + sm * c.machine[machine.GROUPS] + group)


def units_at(c: Core, sm: SmRow, units: int) -> UnitsRow:
    return _row(c, c.machine[machine.FIRST_UNITS] + sm * c.machine[machine.UNITS] + units)


def collector_at(c: Core, sm: SmRow, collector: int) -> CollectorRow:
    return _further(c, c.table[sm, sms.FIRST_COLLECTOR], collector)


def bank_at(c: Core, sm: SmRow, bank: int) -> BankRow:
    return _further(c, c.table[sm, sms.FIRST_BANK], bank)


def block_at(c: Core, sm: SmRow, block: int) -> BlockRow:
    """A resident thread block of an SM."""
    return _further(c, c.table[sm, sms.FIRST_BLOCK], block)


def op_after(c: Core, op: OpRow) -> OpRow:
    """The operation in the next row."""
    return _further(c, op, 1)
