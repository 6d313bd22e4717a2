"""Rows of components, by their indices in an SM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from warpreg.timing.core.columns import machine, schedulers, sms, warps
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    AccountRow,
    BankRow,
    BlockRow,
    CollectorRow,
    GroupRow,
    OpRow,
    Row,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)

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


def _further(first: Row, index: int, width: int) -> Any:
    """The row ``index`` rows of ``width`` words after ``first``."""
    return first + index * width


def warp_at(c: Core, sm: SmRow, slot: int) -> WarpRow:
    """The warp in a slot of an SM."""
    return numbered_warp(c, sm * c.machine[machine.SLOTS] + slot)


def warp_of(c: Core, sm: SmRow, scheduler: int, position: int) -> WarpRow:
    """The warp at a position of a scheduler."""
    return warp_at(c, sm, position * c.machine[machine.SCHEDULERS] + scheduler)


def numbered_warp(c: Core, number: int) -> WarpRow:
    """The warp with the index that hooks use."""
    return _further(c.machine[machine.FIRST_WARP], number, c.machine[machine.WARP_ROW])


def slot_of(c: Core, sm: SmRow, warp: WarpRow) -> int:
    """The slot of a warp in its SM."""
    return (warp - warp_at(c, sm, 0)) // c.machine[machine.WARP_ROW]


def number_of(c: Core, warp: WarpRow) -> int:
    """The index of a warp that hooks use: its slot, counted over all SMs."""
    return c.rows[warp, warps.NUMBER]


def scheduler_at(c: Core, sm: SmRow, scheduler: int) -> SchedulerRow:
    index = sm * c.machine[machine.SCHEDULERS] + scheduler
    return _further(c.machine[machine.FIRST_SCHEDULER], index, c.machine[machine.SCHEDULER_ROW])


def account_of(c: Core, scheduler: SchedulerRow) -> AccountRow:
    """The stall account of a scheduler."""
    account: Any = scheduler + schedulers.ACCOUNT
    return account


def group_at(c: Core, sm: SmRow, group: int) -> GroupRow:
    index = sm * c.machine[machine.GROUPS] + group
    return _further(c.machine[machine.FIRST_GROUP], index, c.machine[machine.GROUP_ROW])


def units_at(c: Core, sm: SmRow, units: int) -> UnitsRow:
    index = sm * c.machine[machine.UNITS] + units
    return _further(c.machine[machine.FIRST_UNITS], index, c.machine[machine.UNITS_ROW])


def collector_at(c: Core, sm: SmRow, collector: int) -> CollectorRow:
    return _further(c.table[sm, sms.FIRST_COLLECTOR], collector, c.machine[machine.COLLECTOR_ROW])


def bank_at(c: Core, sm: SmRow, bank: int) -> BankRow:
    return _further(c.table[sm, sms.FIRST_BANK], bank, c.machine[machine.BANK_ROW])


def block_at(c: Core, sm: SmRow, block: int) -> BlockRow:
    """A resident thread block of an SM."""
    return _further(c.table[sm, sms.FIRST_BLOCK], block, c.machine[machine.BLOCK_ROW])


def op_after(c: Core, op: OpRow) -> OpRow:
    """The operation in the next row."""
    return _further(op, 1, c.machine[machine.OP_ROW])


def op_index(c: Core, op: OpRow) -> int:
    """The number of operations before this one."""
    return (op - c.machine[machine.FIRST_OP]) // c.machine[machine.OP_ROW]


def collector_index(c: Core, sm: SmRow, collector: CollectorRow) -> int:
    """The index of a collector in its SM."""
    return (collector - c.table[sm, sms.FIRST_COLLECTOR]) // c.machine[machine.COLLECTOR_ROW]
