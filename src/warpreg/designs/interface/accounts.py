"""Accounts of planned operands: a hook that plans operands plans each of them, or the run is refused.

An operand that a hook leaves unplanned would be accessed nowhere, and no count would show it.  The hooks of designs
without checks (`warpreg.designs.checking`) therefore keep an account in ``planned`` of the `Plan`.  A core looks at it
at its end (`unplanned`).  Only a compiled replay keeps none in hooks that plan at issue: there it would cost up to
half of the time.

``produced`` behind ``plan_write`` of the same design: if it plans nothing, ``plan_write`` plans all results; otherwise
both together do, and what the plan has kept of ``plan_write`` counts as planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.noinline import noinline
from piecewise_numba.rebuild import reaches
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hooks import HOOKS, authors_of_hook, parts_of_hook, place
from warpreg.designs.interface.plan import (
    CYCLES,
    ELSEWHERE,
    FIRST_OPERAND,
    IN_BANKS,
    LEVEL,
    MAX_PLANNED,
    PART,
    PLANNED,
    UNPLANNED_IN,
    UNPLANNED_PART,
    UNPLANNED_PC,
    UNPLANNED_ROW,
    UNSET,
    Plan,
)
from warpreg.designs.interface.plan_functions import bit_of, nowhere, read, write
from warpreg.designs.interface.program import Program
from warpreg.ir.kernel import Kernel

READS, WRITE, PRODUCED = (1 + list(HOOKS).index(name) for name in ("plan_reads", "plan_write", "produced"))


def accounted_hooks(name: str, hooks: Mapping[str, FunctionType]) -> dict[str, FunctionType]:
    """The hooks of the design ``name``; those that plan operands keep an account.

    Raises DesignError, with the author's file and line, for a hook that has to plan operands and never plans any.
    """
    _check_plans(hooks)
    made: dict[str, Function] = {}
    if "plan_reads" in hooks:
        made["plan_reads"] = _accounted_reads(hooks["plan_reads"])
    if "plan_write" in hooks and "produced" in hooks and plans_results(hooks["produced"]):
        made["produced"] = _accounted_late(hooks["produced"])
    elif "plan_write" in hooks:
        made["plan_write"] = _accounted_results(hooks["plan_write"], WRITE)
    elif "produced" in hooks:
        made["produced"] = _accounted_results(hooks["produced"], PRODUCED)
    result = dict(hooks)
    for one, function in made.items():
        accounted = cast(FunctionType, function)
        accounted.__name__ = one
        vars(accounted).update(is_hook=True, author=hooks[one], design_name=name)
        result[one] = accounted
    return result


def _check_plans(hooks: Mapping[str, FunctionType]) -> None:
    """Raises DesignError for hooks that plan no operand whatever happens."""
    if "plan_reads" in hooks and not reaches((hooks["plan_reads"],), (read, nowhere)):
        raise DesignError(
            f"{place(hooks['plan_reads'].__code__)}: plan_reads plans no source; call read, or nowhere(plan, operand), "
            "for each"
        )
    planning = [name for name in ("plan_write", "produced") if name in hooks]
    if planning and not any(plans_results(hooks[name]) for name in planning):
        raise DesignError(
            f"{place(hooks[planning[0]].__code__)}: {planning[0]} plans no result; call write, or "
            "nowhere(plan, operand), for each"
        )


def plans_results(hook: FunctionType) -> bool:
    """Whether a hook plans results, also through functions."""
    return reaches(authors_of_hook(hook), (write, nowhere))


def unplanned(
    planned: NDArray[np.int64], hooks: Mapping[str, FunctionType], program: Program, kernel: Kernel | None = None
) -> DesignError | None:
    """The error for the first operand that a hook of a design has left unplanned; None if there is none."""
    if planned[UNPLANNED_IN] == 0:
        return None
    name = list(HOOKS)[int(planned[UNPLANNED_IN]) - 1]
    parts = parts_of_hook(hooks[name])
    hook = parts[int(planned[UNPLANNED_PART])] if len(parts) > 1 else parts[0]
    pc, is_reading = int(planned[UNPLANNED_PC]), planned[UNPLANNED_IN] == READS
    starts, registers = (program.source_start, program.source) if is_reading else (program.result_start, program.result)
    register = int(registers[int(starts[pc]) + int(planned[UNPLANNED_ROW])])
    text = "" if kernel is None else f", '{next(islice(kernel.instructions(), pc, None))}'"
    kind, function = ("source", "read") if is_reading else ("result", "write")
    return DesignError(
        f"{place(authors_of_hook(hook)[0].__code__)}: design {vars(hook)['design_name']}: {name} leaves {kind} "
        f"R{register} of pc {pc}{text} unplanned; call {function}, or nowhere(plan, operand)"
    )


def _accounted_reads(hook: Function) -> Function:
    def plan_reads(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
        first, end = program.source_start[pc], program.source_start[pc + 1]
        begin_account(plan, first, end - first)
        hook(state, program, warp, pc, plan)
        if is_short(plan):
            note_unplanned(plan.planned, READS, pc, end - first)

    return plan_reads


def _accounted_results(hook: Function, number: int) -> Function:
    def plan_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
        first, end = program.result_start[pc], program.result_start[pc + 1]
        begin_account(plan, first, end - first)
        hook(state, program, warp, pc, plan)
        if is_short(plan):
            note_unplanned(plan.planned, number, pc, end - first)

    return plan_results


def _accounted_late(hook: Function) -> Function:
    def produced(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
        first, end = program.result_start[pc], program.result_start[pc + 1]
        begin_account(plan, first, end - first)
        hook(state, program, warp, pc, plan)
        if is_short(plan):
            add_kept(plan.planned, plan.results, end - first)
            note_unplanned(plan.planned, PRODUCED, pc, end - first)

    return produced


def begin_account(plan: Plan, first: int, operands: int) -> None:
    """Of so many operands none is planned yet; ``first`` is that of row 0.  Bits without an operand are set."""
    if plan.accounts:
        plan.planned[PLANNED] = -1 << min(operands, MAX_PLANNED)
        plan.planned[FIRST_OPERAND] = first


def is_short(plan: Plan) -> bool:
    """Whether an operand is not planned, as far as an account is kept."""
    return plan.accounts != 0 and plan.planned[PLANNED] != -1


@noinline
def add_kept(planned: NDArray[np.int64], results: NDArray[np.int32], operands: int) -> None:
    """What ``plan_write`` has planned of results counts too."""
    for row in range(operands):
        is_written = results[row, IN_BANKS, LEVEL] != UNSET or results[row, ELSEWHERE, LEVEL] != UNSET
        if is_written or results[row, ELSEWHERE, CYCLES] != UNSET:
            planned[PLANNED] |= 1 << bit_of(row)


@noinline
def note_unplanned(planned: NDArray[np.int64], number: int, pc: int, operands: int) -> None:
    """Keep the first operand without a bit, if no earlier call has left one."""
    for row in range(operands):
        if planned[UNPLANNED_IN] == 0 and planned[PLANNED] >> bit_of(row) & 1 == 0:
            planned[UNPLANNED_IN] = number
            planned[UNPLANNED_PC] = pc
            planned[UNPLANNED_ROW] = row
            planned[UNPLANNED_PART] = planned[PART]
