"""The stall account of warps that are ready, but whose instruction finds no room."""

from __future__ import annotations

from warpreg.timing import at
from warpreg.timing.at import Core
from warpreg.timing.bits import bit, count, lowest
from warpreg.timing.collect import earliest, group_of, pipe_free_at
from warpreg.timing.load_store import has_room


def blocked_warps(c: Core, sm: int, scheduler: int, cycles: int, now: int) -> int:
    """The ready warps whose pipe takes nothing now; ``cycles`` of each go to the account."""
    row = c.machine[at.FIRST_SCHEDULER] + sm * c.machine[at.SCHEDULERS] + scheduler
    blocked = 0
    may_block = c.rows[row, at.FULL] if c.machine[at.IDEAL] == 0 else (1 << at.PIPES) - 1 - (1 << at.CTRL)
    pipes = may_block & c.rows[row, at.WANTED_PIPES]
    while pipes != 0:
        pipe = lowest(pipes)
        pipes ^= bit(pipe)
        if not _takes(c, sm, scheduler, pipe, now):
            wanting = c.rows[row, at.WANTS + pipe]
            blocked |= wanting
            c.rows[row + c.machine[at.TO_ACCOUNT], _cause(c, sm, scheduler, pipe, now)] += cycles * count(wanting)
    return blocked


def _takes(c: Core, sm: int, scheduler: int, pipe: int, now: int) -> bool:
    """With the ideal operand path, whether a unit takes an instruction; a full latch takes none."""
    if c.machine[at.IDEAL] == 0:
        return False
    free = pipe_free_at(c, sm, scheduler, pipe)
    if free <= now:
        return True
    c.rows[sm, at.RETRY_AT] = min(c.rows[sm, at.RETRY_AT], free)
    return False


def _cause(c: Core, sm: int, scheduler: int, pipe: int, now: int) -> int:
    """Why there is no room: the oldest instruction in the collectors that the latch feeds tells."""
    asked = pipe
    if c.machine[at.IDEAL] == 0:
        oldest = earliest(c, sm, group_of(c, sm, scheduler, pipe))
        if oldest == at.NONE or c.rows[sm, at.READY_COLLECTORS] & bit(oldest) == 0:
            return at.OPERANDS
        place = c.machine[at.FIRST_COLLECTOR] + sm * c.machine[at.COLLECTORS] + oldest
        if c.rows[place, at.READY_AT] > now:
            return at.OPERANDS
        asked = c.code[c.rows[c.rows[place, at.HELD], at.OP_PC], at.PIPE]
    if (asked == at.MEM or asked == at.TEX) and not has_room(c, sm):
        return at.MEMORY_QUEUE
    return at.UNIT
