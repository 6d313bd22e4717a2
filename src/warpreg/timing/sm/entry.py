"""Instructions enter collectors where not every latched one may.

`enter` takes the place of that of `warpreg.timing.sm.operand_collector`.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import groups, ops, sms
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.rows import group_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, GroupRow, OpRow, SmRow
from warpreg.timing.sm import operand_collector
from warpreg.timing.sm.operand_collector import free_latch, take_collector


@port("tables in front of operand fetch")
def is_ready(c: Core, op: OpRow, now: int) -> bool:
    """Whether all lookups of an instruction are done."""
    return True


@stands_for(is_ready, when.TABLES)
def lookups_are_done(c: Core, op: OpRow, now: int) -> bool:
    """In place of `is_ready` with tables in front of operand fetch."""
    return c.rows[op, ops.ENTERS_FROM] <= now


@stands_for(operand_collector.enter, when.TABLES & ~when.OWNED)
def enter(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Latched instructions, oldest first, take free collectors, at most ``in_ports`` in a step; one that may not enter
    yet is passed over.
    """
    latched = c.table[sm, sms.GROUPS_LATCHED]
    while latched != 0:
        group = lowest(latched)
        latched ^= bit(group)
        row = group_at(c, sm, group)
        _enter_group(c, d, sm, row, now)
        if c.rows[row, groups.LATCHED] == NONE:
            c.table[sm, sms.GROUPS_LATCHED] ^= bit(group)


def _enter_group(c: Core, d: Any, sm: SmRow, row: GroupRow, now: int) -> None:
    entering = c.rows[row, groups.IN_PORTS]
    before: OpRow = NONE
    op = c.rows[row, groups.LATCHED]
    while op != NONE and entering > 0 and c.rows[row, groups.FREE] != 0:
        following = c.rows[op, ops.NEXT]
        if is_ready(c, op, now):
            entering -= 1
            _unlink(c, row, before, op, following)
            collector = lowest(c.rows[row, groups.FREE])
            c.rows[row, groups.FREE] ^= bit(collector)
            c.rows[row, groups.EARLIEST] = NONE
            free_latch(c, op)
            take_collector(c, d, sm, collector, op, now)
        else:
            before = op
        op = following


def _unlink(c: Core, row: GroupRow, before: OpRow, op: OpRow, following: OpRow) -> None:
    """Out of the list of latched instructions."""
    if before == NONE:
        c.rows[row, groups.LATCHED] = following
    else:
        c.rows[before, ops.NEXT] = following
    if following == NONE:
        c.rows[row, groups.LATCHED_END] = before
