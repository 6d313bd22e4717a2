"""The ideal operand path: an instruction that issues has its operands and goes to its unit at once."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.columns import Core
from warpreg.timing.sm.function_units import free_at, take_unit, units_of
from warpreg.timing.sm.load_store_unit import begin


def collect(c: Core, d: Any, sm: int, now: int) -> int:
    return at.NEVER


def is_collecting(c: Core, sm: int) -> bool:
    return False


def may_refuse(c: Core, row: int) -> int:
    return (1 << at.PIPES) - 1 - (1 << at.CTRL)


def refuses(c: Core, sm: int, row: int, pipe: int, now: int) -> bool:
    free = free_at(c, sm, units_of(c, row, pipe))
    if free <= now:
        return False
    c.table[sm, at.RETRY_AT] = min(c.table[sm, at.RETRY_AT], free)
    return True


def waits_for(c: Core, sm: int, row: int, pipe: int, now: int) -> int:
    return units_of(c, row, pipe)


def take(c: Core, d: Any, sm: int, row: int, pipe: int, pc: int, op: int, now: int) -> None:
    take_unit(c, units_of(c, row, pipe), now + c.code[pc, at.INITIATION])
    begin(c, d, sm, op, ports.ideal_cycles(c, d, op, pc), now)


def result_word(c: Core, d: Any, warp: int, op: int, row: int) -> int:
    return at.SAYS_BANK | 1 << at.RESULT_SHIFT
