"""The stall account of warps that are ready, but whose instruction finds no room."""

from __future__ import annotations

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, count, lowest
from warpreg.timing.core.columns import Core
from warpreg.timing.core.rows import scheduler_at
from warpreg.timing.sm.load_store_unit import has_room


def blocked_warps(c: Core, sm: int, scheduler: int, cycles: int, now: int) -> int:
    """The ready warps whose pipe takes nothing now; ``cycles`` of each go to the account."""
    row = scheduler_at(c, sm, scheduler)
    blocked = 0
    pipes = ports.may_refuse(c, row) & c.rows[row, at.WANTED_PIPES]
    while pipes != 0:
        pipe = lowest(pipes)
        pipes ^= bit(pipe)
        if ports.refuses(c, sm, row, pipe, now):
            wanting = c.rows[row, at.WANTS + pipe]
            blocked |= wanting
            c.rows[row + c.machine[at.TO_ACCOUNT], _cause(c, sm, row, pipe, now)] += cycles * count(wanting)
    return blocked


def _cause(c: Core, sm: int, row: int, pipe: int, now: int) -> int:
    """Why there is no room."""
    asked = ports.waits_for(c, sm, row, pipe, now)
    if asked == at.NONE:
        return at.OPERANDS
    if c.rows[asked, at.FEEDS_QUEUE] != 0 and not has_room(c, sm):
        return at.MEMORY_QUEUE
    return at.UNIT
