"""Tables in front of operand fetch: each access takes a port of its bank, and lookups hold their instruction back.

What takes the place of functions of `warpreg.timing.core.ports` and `warpreg.timing.hooks.adapters` where a design has
tables.  Ports serve accesses in the order in which hooks ask for them.

``free_ports`` [SM, bank]: the first port that is free, counted over all cycles: port ``p`` of cycle ``t`` has the
number ``t * ports + p``.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.bits import remainder
from warpreg.designs.interface.plan import ASKED, ASKED_ACTION, ASKED_INDEX, ASKED_TABLE, CONFLICTS, LOOKUPS
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, ops
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import OpRow, SmRow
from warpreg.timing.hooks import adapters

FIRST_BANK, BANKS, PORTS, STAGES = range(4)
"""Columns of a table's shape; FIRST_BANK among the banks of all tables."""


@stands_for(ports.begin_lookups, when.TABLES)
def begin_lookups(c: Core, op: OpRow, now: int) -> None:
    """An instruction that looks nothing up may enter a collector in the next cycle."""
    c.rows[op, ops.ENTERS_FROM] = now + 1


@stands_for(adapters.await_lookups, when.TABLES)
def await_lookups(c: Core, op: OpRow, ready: int) -> None:
    """An instruction may enter a collector when its lookups are ``ready``."""
    c.rows[op, ops.ENTERS_FROM] = max(c.rows[op, ops.ENTERS_FROM], ready)


@stands_for(ports.late_entry, when.TABLES)
def late_entry(c: Core, op: OpRow, now: int) -> int:
    """Cycles by which lookups delay an instruction that issues now."""
    return c.rows[op, ops.ENTERS_FROM] - now - 1


@stands_for(adapters.serve_tables, when.TABLES)
def serve_tables(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Serve what a hook has asked of tables; returns from when on its lookups are ready, 0 without a lookup."""
    if d.queued[ASKED] == 0:
        return 0
    return _serve(c, d, sm, now)


def _serve(c: Core, d: Any, sm: SmRow, now: int) -> int:
    asked = d.queued[ASKED]
    d.queued[ASKED] = 0
    if asked > d.asked.shape[0]:
        c.clock[clock.OVERFLOW] = 1
        asked = 0
    ready = 0
    for row in range(asked):
        table = d.asked[row, ASKED_TABLE]
        bank = d.tables[table, FIRST_BANK] + remainder(d.asked[row, ASKED_INDEX], d.tables[table, BANKS])
        ports = d.tables[table, PORTS]
        before = max(0, d.free_ports[sm, bank] - now * ports)
        d.free_ports[sm, bank] = now * ports + before + 1
        served = now
        if before >= ports:
            served += before // ports
            d.plan.tables[table, CONFLICTS] += 1
        if d.asked[row, ASKED_ACTION] == LOOKUPS:
            ready = max(ready, served + d.tables[table, STAGES])
    return ready
