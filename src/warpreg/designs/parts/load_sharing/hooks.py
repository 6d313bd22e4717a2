"""The hooks of LARF."""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from piecewise_numba.records import by_reference
from warpreg.designs.interface import (
    MRF,
    Plan,
    Program,
    count,
    hook,
    is_timed,
    lane_address,
    now,
    read,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.parts.load_sharing.address_table import THREADS, remove_all
from warpreg.designs.parts.load_sharing.events import FORGOTTEN, RELEASED
from warpreg.designs.parts.load_sharing.hints import FENCE, NO_ORDER, SYNCHRONISES
from warpreg.designs.parts.load_sharing.registers import collect_source, end_sources, end_warp, issue_source, release
from warpreg.designs.parts.load_sharing.results import overwrite, plan_source, release_dead, report, write_result
from warpreg.designs.parts.load_sharing.shadow import observe, publish
from warpreg.designs.parts.load_sharing.shared_loads import look_up_load
from warpreg.designs.parts.load_sharing.state import AFTER_FENCE, UNDER_WAY


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if not state.enabled:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)
        return
    orders, entered = int(program.hints.orders[pc]), int(program.hints.entered[pc])
    if state.fenced[warp] or orders:
        forgotten = before_issue(by_reference(state), plan.sm, warp, orders, now(plan), is_timed(plan))
        count(plan, FORGOTTEN, forgotten)
    if entered:
        released = program.hints.released[entered - 1]
        count(plan, RELEASED, release_dead(by_reference(state), plan.sm, warp, released))
    if state.fenced[warp] or orders or entered:
        report(by_reference(state), plan)
    own = by_reference(state)
    for operand in source_operands(program, pc):
        plan_source(own, program, warp, operand, plan)
    if is_timed(plan):
        for operand in source_operands(program, pc):
            issue_source(own, warp, program.source[operand], program.last_read[operand] != 0)


@hook
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    register = program.source[operand]
    if state.enabled and is_timed(plan) and collect_source(by_reference(state), warp, register):
        count(plan, RELEASED, end_sources(by_reference(state), plan.sm, warp, register))
        report(by_reference(state), plan)
    if state.enabled and not is_timed(plan) and program.last_read[operand]:
        count(plan, RELEASED, release(by_reference(state), plan.sm, warp, register))


@hook
def load_lookup(state: Any, program: Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: Plan) -> int:
    if not state.enabled:
        return 0
    return look_up_load(state, program, warp, pc, base, stride, mask, plan)


@hook
def memory_issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled and program.hints.stored[pc]:
        size, orders = int(program.hints.stored[pc]), program.hints.orders[pc] != NO_ORDER
        send_store(by_reference(state), size, orders, by_reference(plan))


@hook
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        if state.enabled:
            write_result(state, program, warp, pc, operand, plan)
        else:
            write(plan, operand, MRF)
    if state.enabled:
        report(by_reference(state), plan)
        if program.hints.orders[pc] == SYNCHRONISES:
            if is_timed(plan):
                state.fenced[warp] -= UNDER_WAY
            count(plan, FORGOTTEN, order(by_reference(state), plan.sm))


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if state.enabled:
        end_warp(by_reference(state), plan.sm, warp)
        report(by_reference(state), plan)


@noinline
def before_issue(state: Any, sm: int, warp: int, orders: int, cycle: int, timed: bool) -> int:
    """An instruction after a fence, or one that orders; returns what `order` does.

    It has no plan, whose some hundred words would be loaded for all calls of the hook.
    """
    forgotten = 0
    if state.fenced[warp] & AFTER_FENCE:
        state.fenced[warp] -= AFTER_FENCE
        forgotten = order(state, sm)
    if orders == FENCE:
        state.fenced[warp] += AFTER_FENCE
        if state.versioned:
            publish(state, sm, cycle)
    elif orders == SYNCHRONISES and timed:
        state.fenced[warp] += UNDER_WAY
    return forgotten


@noinline
def send_store(state: Any, size: int, orders: bool, plan: Plan) -> None:
    """A store or an atomic is sent."""
    for lane in range(THREADS):
        if plan.mask >> lane & 1:
            state.addresses[plan.sm, lane] = lane_address(plan, lane)
    overwrite(state, size, plan.mask, plan)
    if state.versioned and orders:
        publish(state, plan.sm, now(plan))


@noinline
def order(state: Any, sm: int) -> int:
    """A fence is complete, or an atomic or a volatile load has read memory: stores of other SMs may be ordered before
    what follows.  What was loaded before is not shared any more; returns how many entries of the table that are.
    """
    if state.versioned:
        observe(state, sm)
    return remove_all(state, sm)
