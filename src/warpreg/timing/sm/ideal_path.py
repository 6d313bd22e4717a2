"""Ideal operand path: an instruction has its operands at issue and is dispatched at once."""

from __future__ import annotations

from typing import Any

from warpreg.gpu import pipes
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.columns import code, function_units, sms
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NEVER, OpRow, Pc, SchedulerRow, SmRow, UnitsRow, WarpRow
from warpreg.timing.sm.function_units import free_at, take_unit, units_of
from warpreg.timing.sm.load_store_unit import begin, has_room


@stands_for(ports.collect, when.IDEAL)
def collect(c: Core, d: Any, sm: SmRow, now: int) -> int:
    return NEVER


@stands_for(ports.is_collecting, when.IDEAL)
def is_collecting(c: Core, sm: SmRow) -> bool:
    return False


@stands_for(ports.may_refuse, when.IDEAL)
def may_refuse(c: Core, sm: SmRow, row: SchedulerRow, now: int) -> int:
    if c.table[sm, sms.UNITS_FREE_AT] <= now and has_room(c, sm):
        return 0
    return (1 << len(pipes.PIPES)) - 1 - (1 << pipes.CTRL)


@stands_for(ports.refuses, when.IDEAL)
def refuses(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> bool:
    free = free_at(c, sm, units_of(c, row, pipe))
    if free <= now:
        return False
    c.table[sm, sms.RETRY_AT] = min(c.table[sm, sms.RETRY_AT], free)
    return True


@stands_for(ports.waits_for, when.IDEAL)
def waits_for(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> UnitsRow:
    return units_of(c, row, pipe)


@stands_for(ports.take, when.IDEAL)
def take(c: Core, d: Any, sm: SmRow, row: SchedulerRow, pipe: int, pc: Pc, op: OpRow, now: int) -> None:
    ports.collected_at_once(c, d, sm, op, now)
    units = units_of(c, row, pipe)
    take_unit(c, units, now + c.code[pc, code.INITIATION])
    c.table[sm, sms.UNITS_FREE_AT] = max(c.table[sm, sms.UNITS_FREE_AT], c.rows[units, function_units.FREE_AT])
    begin(c, d, sm, op, ports.ideal_cycles(c, d, op, pc) + ports.late_entry(c, op, now), now)


@stands_for(ports.result_word, when.IDEAL & ~when.PLANS_RESULTS)
def result_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    return operand_word.SAYS_BANK | 1 << operand_word.RESULT_SHIFT
