"""Constant caches: two L0 of each scheduler, for instructions of fixed and of variable latency, and an L1 of the SM.

Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025), section 5.4.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import causes, code, machine, ops, schedulers, sms, warps
from warpreg.timing.core.inflight import hold
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.rows import slot_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import LineRow, OpRow, SchedulerRow, SmRow, WarpRow
from warpreg.timing.sm.cached_lines import bring, is_cached, row_of, use


@stands_for(ports.lacks_constant, when.CONSTANT_CACHES)
def lacks_constant(c: Core, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, now: int) -> bool:
    """Whether the head of a warp that a scheduler selects has a fixed latency and reads a constant that is not there.

    The warp then waits for it; the scheduler issues nothing until it is there, or for the cycles of its patience.  What
    a head has waited for is there for it, even if others have taken its place.
    """
    pc = c.rows[warp, warps.HEAD]
    line = c.code[pc, code.CONSTANT] - 1
    if line < 0 or c.code[pc, code.LEAD] != 0:
        return False
    if c.rows[warp, warps.ASKED] == c.rows[warp, warps.LAST_ISSUE]:
        return False
    there = _there_from(c, sm, scheduler, line, now)
    if there <= now:
        return False
    c.rows[warp, warps.ASKED] = c.rows[warp, warps.LAST_ISSUE]
    hold(c, sm, warp, there, causes.OPERANDS, now)
    until = min(there, now + c.machine[machine.CONSTANT_PATIENCE])
    c.rows[row, schedulers.ISSUES_FROM] = max(c.rows[row, schedulers.ISSUES_FROM], until)
    c.table[sm, sms.RETRY_AT] = min(c.table[sm, sms.RETRY_AT], until)
    return True


@stands_for(ports.constant_cycles, when.CONSTANT_CACHES)
def constant_cycles(c: Core, sm: SmRow, op: OpRow, now: int) -> int:
    """Cycles until the constant of an instruction of variable latency is there, which is dispatched."""
    pc = c.rows[op, ops.PC]
    line = c.code[pc, code.CONSTANT] - 1
    if line < 0 or c.code[pc, code.LEAD] == 0:
        return 0
    count = c.machine[machine.SCHEDULERS]
    scheduler = slot_of(c, sm, c.rows[op, ops.WARP]) % count
    return max(0, _there_from(c, sm, count + scheduler, line, now) - now)


def _there_from(c: Core, sm: SmRow, number: int, line: int, now: int) -> int:
    """The first cycle in which an L0 has a line that is asked for now."""
    first = _cache(c, sm, number)
    row = row_of(first, line)
    if not is_cached(c, row):
        there = _from_l1(c, sm, line, now)
        lines = c.machine[machine.CONSTANT_LINES]
        bring(c, first, line, lines, c.machine[machine.L0_CONSTANT_SETS], c.machine[machine.L0_CONSTANT_WAYS], there)
    return use(c, sm, row)


def _from_l1(c: Core, sm: SmRow, line: int, now: int) -> int:
    first = _cache(c, sm, 2 * c.machine[machine.SCHEDULERS])
    row = row_of(first, line)
    if not is_cached(c, row):
        there = now + c.machine[machine.L2_CONSTANT_LATENCY]
        lines = c.machine[machine.CONSTANT_LINES]
        bring(c, first, line, lines, c.machine[machine.L1_CONSTANT_SETS], c.machine[machine.L1_CONSTANT_WAYS], there)
    return max(now, use(c, sm, row)) + c.machine[machine.L1_CONSTANT_LATENCY]


def _cache(c: Core, sm: SmRow, number: int) -> LineRow:
    """The first row of a cache of an SM: those for fixed latency, those for variable latency, the L1."""
    caches = 2 * c.machine[machine.SCHEDULERS] + 1
    row: Any = c.machine[machine.FIRST_CONSTANT] + (sm * caches + number) * c.machine[machine.CONSTANT_LINES]
    return row
