"""The hooks of scheduling policies: what they see of the warps of a scheduler, and the warp that they choose."""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface import turns
from warpreg.designs.interface.plan import MISCHOSEN
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit
from warpreg.timing.core.columns import clock, machine, sms, warps
from warpreg.timing.core.port import placeholder, stands_for
from warpreg.timing.core.rows import warp_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, SchedulerRow, SmRow, WarpRow
from warpreg.timing.hooks.adapters import plan_of, settle
from warpreg.timing.sm.issue import pick
from warpreg.timing.sm.wakeup import is_past_fence, needs_any_of, slowest


@placeholder
def choose(state: Any, program: Any, scheduler: int, plan: Any) -> int:
    """Placeholder for the design's hook."""
    return -1


@stands_for(pick, when.hook("choose"))
def call_choose(c: Core, d: Any, sm: SmRow, row: SchedulerRow, scheduler: int, able: int, now: int) -> int:
    """The position of the warp that the design chooses; a warp that cannot issue ends the run."""
    show_warps(c, d, sm, scheduler, able, now)
    plan = plan_of(c, d, sm, NONE, NONE, 0, NONE, NONE, now)
    chosen = choose(d.state, d.program, number_of_scheduler(c, sm, scheduler), plan)
    settle(c, d, sm, now)
    if chosen == turns.NOBODY:
        return NONE
    count = c.machine[machine.SCHEDULERS]
    slot = chosen - sm * c.machine[machine.SLOTS]
    if 0 <= slot < c.machine[machine.SLOTS] and slot % count == scheduler and able & bit(slot // count) != 0:
        return slot // count
    d.queued[MISCHOSEN] = chosen + 1
    c.clock[clock.OVERFLOW] = 1
    return NONE


@placeholder
def turns_start(state: Any, program: Any, scheduler: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.turns_start, when.hook("turns_start"))
def call_turns_start(c: Core, d: Any, sm: SmRow, now: int) -> None:
    if c.table[sm, sms.RESIDENT] != 0:
        for scheduler in range(c.machine[machine.SCHEDULERS]):
            show_warps(c, d, sm, scheduler, 0, now)
            plan = plan_of(c, d, sm, NONE, NONE, 0, NONE, NONE, now)
            turns_start(d.state, d.program, number_of_scheduler(c, sm, scheduler), plan)
            settle(c, d, sm, now)


@placeholder
def turns_end(state: Any, program: Any, scheduler: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.turns_end, when.hook("turns_end"))
def call_turns_end(c: Core, d: Any, sm: SmRow, now: int) -> None:
    if c.table[sm, sms.RESIDENT] != 0:
        for scheduler in range(c.machine[machine.SCHEDULERS]):
            show_warps(c, d, sm, scheduler, 0, now)
            plan = plan_of(c, d, sm, NONE, NONE, 0, NONE, NONE, now)
            turns_end(d.state, d.program, number_of_scheduler(c, sm, scheduler), plan)
            settle(c, d, sm, now)


@stands_for(ports.sees_every_cycle, when.hook("turns_start") | when.hook("turns_end"))
def has_thread_blocks(c: Core, sm: SmRow) -> bool:
    """Hooks are called in every cycle in which an SM has warps."""
    return c.table[sm, sms.RESIDENT] != 0


def number_of_scheduler(c: Core, sm: SmRow, scheduler: int) -> int:
    """The number of a scheduler that hooks use, counted over all SMs."""
    number: Any = sm * c.machine[machine.SCHEDULERS] + scheduler
    return number


def show_warps(c: Core, d: Any, sm: SmRow, scheduler: int, able: int, now: int) -> None:
    """Show hooks the warps of a scheduler; ``able``: the positions of those that may be chosen."""
    count = c.machine[machine.SCHEDULERS]
    seen = d.program.seen
    for slot in range(scheduler, c.machine[machine.SLOTS], count):
        warp = warp_at(c, sm, slot)
        row = sm * c.machine[machine.SLOTS] + slot
        is_present = c.rows[warp, warps.PRESENT] != 0
        has_head = is_present and c.rows[warp, warps.HEAD] != NONE
        seen[row, turns.CAN_ISSUE] = able >> (slot // count) & 1
        seen[row, turns.NEXT_PC] = c.rows[warp, warps.HEAD] if has_head else NONE
        seen[row, turns.WAITS_FOR] = _awaited(c, warp, now) if has_head else turns.END
        seen[row, turns.IS_FETCHED] = has_head and _is_fetched(c, warp, now)
        seen[row, turns.AGE] = c.rows[warp, warps.AGE] if is_present else -1


def _is_fetched(c: Core, warp: WarpRow, now: int) -> bool:
    """Whether the head is fetched: the earliest is the cycle after the issue of the instruction before it."""
    return c.rows[warp, warps.FETCHED] <= now and c.rows[warp, warps.LAST_ISSUE] != now


def _awaited(c: Core, warp: WarpRow, now: int) -> int:
    """What a warp with a head waits for."""
    head = c.rows[warp, warps.HEAD]
    stop = c.rows[warp, warps.STOP]
    if stop == warps.AT_BARRIER:
        return turns.BARRIER
    if stop == warps.AT_FENCE and not is_past_fence(c, warp):
        return turns.FENCE
    if stop == warps.AT_TOKEN or ports.asks_later(c, warp, now):
        return turns.TOKEN
    if needs_any_of(c, warp, head, warps.BUSY + warps.LONG_SET * c.machine[machine.WORDS]):
        return turns.LONG_RESULT
    return turns.RESULT if slowest(c, warp) >= 0 else turns.NOTHING
