"""Stall account of ready warps whose instruction finds no room."""

from __future__ import annotations

from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import Cause, causes, function_units, schedulers
from warpreg.timing.core.port import port
from warpreg.timing.core.rows import account_of, scheduler_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, SchedulerRow, SmRow
from warpreg.timing.sm.load_store_unit import has_room


@port("collectors of warps, or a recording")
def blocked_warps(c: Core, sm: SmRow, scheduler: int, cycles: int, now: int) -> int:
    """The ready warps whose pipe accepts nothing now; ``cycles`` of each are added to the account."""
    row = scheduler_at(c, sm, scheduler)
    blocked = 0
    pipes = ports.may_refuse(c, sm, row, now) & c.rows[row, schedulers.WANTED_PIPES]
    while pipes != 0:
        pipe = lowest(pipes)
        pipes ^= bit(pipe)
        if ports.refuses(c, sm, row, pipe, now):
            wanting = c.rows[row, schedulers.WANTS + pipe]
            blocked |= wanting
            c.rows[account_of(c, row), blocking_cause(c, sm, row, pipe, now)] += cycles * count(wanting)
    return blocked


def blocking_cause(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> Cause:
    """The cause of the structural hazard."""
    asked = ports.waits_for(c, sm, row, pipe, now)
    if asked == NONE:
        return causes.OPERANDS
    if c.rows[asked, function_units.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return causes.MEMORY_QUEUE
    return causes.UNIT
