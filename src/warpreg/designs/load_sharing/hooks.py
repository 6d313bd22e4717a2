"""The hooks of LARF."""

from __future__ import annotations

from typing import Any

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
from warpreg.designs.load_sharing.address_table import LANES
from warpreg.designs.load_sharing.events import RELEASED
from warpreg.designs.load_sharing.hints import FENCE, NO_ORDER, SYNCHRONISES
from warpreg.designs.load_sharing.loads import look_up_load
from warpreg.designs.load_sharing.registers import collect_source, end_warp, issue_source, release
from warpreg.designs.load_sharing.results import forget, overwrite, plan_source, release_dead, report, write_result
from warpreg.designs.load_sharing.shadow import observe, publish
from warpreg.jit.noinline import noinline
from warpreg.jit.records import by_reference


@hook
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if not state.enabled:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)
        return
    own, code, planned = by_reference(state), by_reference(program), by_reference(plan)
    if state.fenced[warp]:
        state.fenced[warp] = 0
        order(own, planned)
    if program.hints.orders[pc] == FENCE:
        begin_fence(own, warp, planned)
    if program.hints.entered[pc]:
        release_dead(own, code, warp, pc, planned)
    for operand in source_operands(program, pc):
        plan_source(own, code, warp, operand, planned)
    if is_timed(plan):
        for operand in source_operands(program, pc):
            issue_source(own, warp, program.source[operand], program.last_read[operand] != 0)


@hook
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    if state.enabled:
        end_source(by_reference(state), program, warp, operand, plan)


@hook
def load_lookup(state: Any, program: Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: Plan) -> int:
    if not state.enabled:
        return 0
    own, code, planned = by_reference(state), by_reference(program), by_reference(plan)
    return look_up_load(own, code, warp, pc, base, stride, mask, planned)


@hook
def memory_issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled and program.hints.stored[pc]:
        send_store(by_reference(state), by_reference(program), pc, by_reference(plan))


@hook
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    own, code, planned = by_reference(state), by_reference(program), by_reference(plan)
    for operand in result_operands(program, pc):
        if state.enabled:
            write_result(own, code, warp, operand, planned)
        else:
            write(plan, operand, MRF)
    if state.enabled and program.hints.orders[pc] == SYNCHRONISES:
        order(own, planned)


@hook
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    if state.enabled:
        end_warp(by_reference(state), plan.sm, warp)
        report(by_reference(state), plan)


def end_source(state: Any, program: Program, warp: int, operand: int, plan: Plan) -> None:
    """The collector has read a source.  A replay reads sources when they issue, so that none is ever pending there."""
    register = program.source[operand]
    if is_timed(plan):
        was_released = collect_source(state, plan.sm, warp, register)
    else:
        was_released = program.last_read[operand] != 0 and release(state, plan.sm, warp, register)
    if was_released:
        count(plan, RELEASED)
        report(state, plan)


@noinline
def send_store(state: Any, program: Program, pc: int, plan: Plan) -> None:
    """A store or an atomic is sent."""
    for lane in range(LANES):
        if plan.mask >> lane & 1:
            state.addresses[plan.sm, lane] = lane_address(plan, lane)
    overwrite(state, program, pc, plan.mask, plan)
    if state.versioned and program.hints.orders[pc] != NO_ORDER:
        publish(state, plan.sm, now(plan))


@noinline
def begin_fence(state: Any, warp: int, plan: Plan) -> None:
    """A fence issues: it is complete when the warp issues again."""
    state.fenced[warp] = 1
    if state.versioned:
        publish(state, plan.sm, now(plan))


@noinline
def order(state: Any, plan: Plan) -> None:
    """A fence is complete, or an atomic or a volatile load has read memory."""
    forget(state, plan)
    if state.versioned:
        observe(state, plan.sm)
