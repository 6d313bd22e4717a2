"""Calls of design hooks by the replay cores, each with a plan that keeps only counts.

The functions that have the names of hooks are defaults, which a core replaces by the hooks of a design.  A hook that a
design does not define leaves no code, and neither does its plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from piecewise_numba.natives import Function, nothing
from piecewise_numba.records import by_reference
from warpreg.designs.interface.paths import TRANSFER
from warpreg.designs.interface.plan import (
    EXTRA_ACTION,
    EXTRA_REGISTER,
    EXTRA_WARP,
    EXTRAS,
    KEEPS,
    RECALLS,
    Plan,
    accounting_plan,
    counting_plan,
    forget_levels,
    forget_results,
    recalling_plan,
)
from warpreg.designs.interface.program import Program, source_operands

HOOKS = (
    "plan_reads", "plan_write", "issued", "collected", "produced", "arrived", "warp_start", "warp_end", "activated",
    "suspended", "block_start", "block_end", "transferred",
)  # fmt: skip
"""The hooks that a replay calls; those of thread blocks only with a schedule.  Without one, results arrive at once.

With a schedule, results of long-latency instructions are produced where they arrive.
"""


def bank_slices() -> int:
    """Slices of a bank; a number that the compiled core knows."""
    return 1


def main_levels() -> int:
    """The levels of the main register file, a bit each; a number that the compiled core knows."""
    return 1


def accounts() -> int:
    """1 if hooks that plan at issue keep accounts too, at a cost that shows; a number that the compiled core knows."""
    return 0


def constant(value: int) -> Function:
    """In place of `bank_slices`, `main_levels` or `accounts` where it is another number."""

    def known() -> int:
        return value

    return known


@nothing
def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def plan_write(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def issued(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def collected(state: Any, program: Program, warp: int, pc: int, operand: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def arrived(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def warp_start(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def warp_end(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def activated(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def suspended(state: Any, program: Program, warp: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def block_start(state: Any, program: Program, sm: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def block_end(state: Any, program: Program, sm: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def transferred(state: Any, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
    """Placeholder for the design's hook."""


@nothing
def settle(state: Any, program: Program, plan: Plan) -> None:
    """A hook has returned: the transfers that it has started are complete."""


def complete_transfers(state: Any, program: Program, plan: Plan) -> None:
    """In place of `settle` if the hook ``transferred`` is defined: call it in the order of starts, also for transfers
    that it starts.  Beyond the room, they are only counted.
    """
    row = 0
    while row < plan.queued[EXTRAS] and row < plan.extras.shape[0]:
        warp: Any = np.int64(plan.extras[row, EXTRA_WARP])
        path: Any = np.int64(plan.extras[row, EXTRA_ACTION] - TRANSFER)
        register: Any = np.int64(plan.extras[row, EXTRA_REGISTER])
        transferred(state, program, warp, path, register, by_reference(_eventful(plan, plan.mask, warp, plan.sm)))
        row += 1
    if plan.queued[EXTRAS] <= plan.extras.shape[0]:
        plan.queued[EXTRAS] = 0


def call_issued(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int, pc: int) -> None:
    """The warp issues instruction ``pc``."""
    plan = by_reference(_counting(program, blank, sm, warp, mask, pc))
    if bank_slices() > 1:
        forget_levels(plan.sources, program.source_start[pc + 1] - program.source_start[pc])
    plan_reads(state, program, warp, pc, plan)
    settle(state, program, plan)
    plan_results(state, program, warp, pc, plan)
    settle(state, program, plan)
    issued(state, program, warp, pc, plan)
    settle(state, program, plan)
    collect(state, program, warp, pc, plan)
    if not program.long_latency[pc]:
        produce(state, program, warp, pc, plan)


def plan_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The results of an instruction are planned at issue."""
    plan_write(state, program, warp, pc, plan)


def plan_kept_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """In place of `plan_results` where ``produced`` may take back what is planned."""
    forget_results(plan.results, program.result_start[pc + 1] - program.result_start[pc])
    plan_write(state, program, warp, pc, by_reference(recalling_plan(plan, KEEPS)))


def collect(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The sources of an instruction are read, in operand order."""
    for operand in source_operands(program, pc):
        collected(state, program, warp, pc, operand, plan)
        settle(state, program, plan)


def produce(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The results of an instruction are there, if it has any."""
    if program.result_start[pc] < program.result_start[pc + 1]:
        produced(state, program, warp, pc, by_reference(accounting_plan(plan)))
        settle(state, program, plan)


def produce_planned(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """In place of `produce` where ``plan_write`` has planned the results."""
    if program.result_start[pc] < program.result_start[pc + 1]:
        produced(state, program, warp, pc, by_reference(accounting_plan(recalling_plan(plan, RECALLS))))
        settle(state, program, plan)


def call_arrived(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int, pc: int) -> None:
    """The results of long-latency instruction ``pc`` are available."""
    plan = by_reference(_counting(program, blank, sm, warp, mask, pc))
    produce(state, program, warp, pc, plan)
    arrived(state, program, warp, pc, plan)
    settle(state, program, plan)


def call_warp_start(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """The warp starts."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    warp_start(state, program, warp, plan)
    settle(state, program, plan)


def call_activated(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """The warp enters the active set."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    activated(state, program, warp, plan)
    settle(state, program, plan)


def call_suspended(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """The warp leaves the active set."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    suspended(state, program, warp, plan)
    settle(state, program, plan)


def call_warp_end(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """The warp has ended."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    warp_end(state, program, warp, plan)
    settle(state, program, plan)


def call_block_start(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """A thread block is about to start; ``warp`` is its first."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    block_start(state, program, sm, plan)
    settle(state, program, plan)


def call_block_end(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """A thread block has ended; ``warp`` was its last."""
    plan = by_reference(_eventful(blank, mask, warp, sm))
    block_end(state, program, sm, plan)
    settle(state, program, plan)


def _counting(program: Program, blank: Plan, sm: int, warp: int, mask: int, pc: int) -> Plan:
    """A plan for a hook that is for instruction ``pc``."""
    first_source, first_result = program.source_start[pc], program.result_start[pc]
    datapath = program.datapath[pc]
    return counting_plan(
        blank, bank_slices(), main_levels(), mask, datapath, warp, sm, first_source, first_result, accounts()
    )


def _eventful(blank: Plan, mask: int, warp: int, sm: int) -> Plan:
    """A plan for a hook that belongs to no instruction."""
    datapath: Any = np.uint8(0)
    first: Any = np.int32(0)
    return counting_plan(blank, bank_slices(), main_levels(), mask, datapath, warp, sm, first, first)


@nothing
def _no_call(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int) -> None:
    """Replacement of a call without hooks."""


@nothing
def _none_of_instruction(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """In place of `collect` and `produce`."""


@nothing
def _no_call_at(state: Any, program: Program, blank: Plan, sm: int, warp: int, mask: int, pc: int) -> None:
    """Replacement of a call for an instruction without hooks."""


CALLS: Mapping[Function, tuple[tuple[str, ...], Function]] = {
    call_issued: (("plan_reads", "plan_write", "issued", "collected", "produced"), _no_call_at),
    call_arrived: (("produced", "arrived"), _no_call_at),
    collect: (("collected",), _none_of_instruction),
    produce: (("produced",), _none_of_instruction),
    call_warp_start: (("warp_start",), _no_call),
    call_activated: (("activated",), _no_call),
    call_suspended: (("suspended",), _no_call),
    call_warp_end: (("warp_end",), _no_call),
    call_block_start: (("block_start",), _no_call),
    call_block_end: (("block_end",), _no_call),
}
"""By call: the hooks that it makes, and its replacement if the design defines none of them."""


def bindings(hooks: Mapping[str, Function]) -> dict[Function, Function]:
    """Replacements of functions of this module in a core with these hooks."""
    bound: dict[Function, Function] = {globals()[name]: hook for name, hook in hooks.items()}
    if hooks.keys() >= {"plan_write", "produced"}:
        bound |= {plan_results: plan_kept_results, produce: produce_planned}
    if "transferred" in hooks:
        bound[settle] = complete_transfers
    return bound | {call: none for call, (names, none) in CALLS.items() if not any(name in hooks for name in names)}
