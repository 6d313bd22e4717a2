"""Warps that begin to wait and go on, and warps that are refused for a number of cycles.

Like `warpreg.timing.hooks.adapters`.  A warp *waits* in a cycle whose cause in the stall account is ``memory``,
``barrier``, ``fence`` or ``token``, but not while it is refused for a number of cycles.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import AFTER, STAY, Plan
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import Cause, causes, clock, code, ops, warps
from warpreg.timing.core.inflight import give_op, schedule, take_op
from warpreg.timing.core.port import placeholder, port, stands_for
from warpreg.timing.core.rows import number_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, SmRow, WarpRow
from warpreg.timing.hooks import adapters


@placeholder
def stalled(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@placeholder
def resumed(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.observe, when.hook("stalled") | when.hook("resumed"))
def observe(c: Core, d: Any, sm: SmRow, warp: WarpRow, cause: Cause, now: int) -> None:
    waits = _waits(c, warp, cause)
    if waits != (c.rows[warp, warps.PRESENT] & warps.WAITING != 0):
        c.rows[warp, warps.PRESENT] ^= warps.WAITING
        if waits:
            tell_stalled(c, d, sm, warp, now)
        else:
            tell_resumed(c, d, sm, warp, now)


def _waits(c: Core, warp: WarpRow, cause: Cause) -> bool:
    """Whether a warp with this cause waits."""
    if cause == causes.TOKEN:
        return c.rows[warp, warps.TOKEN] != NONE
    return cause == causes.MEMORY or cause == causes.BARRIER or cause == causes.FENCE


@port("the hook stalled")
def tell_stalled(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp begins to wait."""


@stands_for(tell_stalled, when.hook("stalled"))
def call_stalled(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    stalled(
        d.state,
        d.program,
        number_of(c, warp),
        c.rows[warp, warps.HEAD],
        _plan_of_head(c, d, sm, warp, now),
    )
    adapters.settle(c, d, sm, now)


@port("the hook resumed")
def tell_resumed(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """It waits no longer."""


@stands_for(tell_resumed, when.hook("resumed"))
def call_resumed(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    resumed(
        d.state,
        d.program,
        number_of(c, warp),
        c.rows[warp, warps.HEAD],
        _plan_of_head(c, d, sm, warp, now),
    )
    adapters.settle(c, d, sm, now)


def _plan_of_head(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> Plan:
    """A plan for a hook that is for the next instruction of a warp."""
    pc = c.rows[warp, warps.HEAD]
    access = c.rows[warp, warps.ACCESS] if c.code[pc, code.KIND] != record.NO_ACCESS else NONE
    return adapters.plan_of(c, d, sm, number_of(c, warp), pc, c.rows[warp, warps.MASK], access, NONE, now)


# A warp that ``admit`` refuses for a number of cycles: its token, NONE, wakes in the cycle before.  It stays active,
# as does one that waits for a token in place.


@stands_for(ports.refused, when.hook("admit"))
def refused(c: Core, sm: SmRow, warp: WarpRow, answer: int, now: int) -> None:
    count_refusal(c)
    cycles = AFTER - answer
    if answer > STAY and answer < 0 and cycles <= 1:
        c.rows[warp, warps.ASKS_FROM] = now + 1
        return
    c.rows[warp, warps.STOP] = warps.AT_TOKEN
    c.rows[warp, warps.TOKEN] = answer
    if answer <= STAY:
        c.rows[warp, warps.TOKEN] = warps.STAYS - (STAY - answer)
    elif answer < 0:
        c.rows[warp, warps.TOKEN] = NONE
        schedule(c, sm, take_op(c, sm, warp, ops.ASKS), now + cycles - 1, now)


def count_refusal(c: Core) -> None:
    """One more since the last issue, for the message of a run that cannot go on."""
    if c.clock[clock.REFUSED_SINCE] != c.clock[clock.LAST_PROGRESS]:
        c.clock[clock.REFUSED_SINCE] = c.clock[clock.LAST_PROGRESS]
        c.clock[clock.REFUSED] = 0
    c.clock[clock.REFUSED] += 1


@stands_for(ports.keeps_place, when.hook("admit"))
def stays(c: Core, warp: WarpRow) -> bool:
    """In place of `keeps_place`."""
    return c.rows[warp, warps.STOP] == warps.AT_TOKEN and c.rows[warp, warps.TOKEN] < 0


@stands_for(ports.asks_again, when.hook("admit"))
def asks_again(c: Core, entry: OpRow) -> bool:
    return c.rows[entry, ops.PC] == ops.ASKS


@stands_for(ports.ask_again, when.hook("admit"))
def ask_again(c: Core, entry: OpRow, now: int) -> None:
    give_op(c, entry)
    adapters.let_go(c, c.rows[entry, ops.WARP], now)


@stands_for(ports.asks_later, when.hook("admit"))
def asks_later(c: Core, warp: WarpRow, now: int) -> bool:
    return c.rows[warp, warps.ASKS_FROM] > now
