"""Hooks and state of a composition of several designs.

The state contains the state of each design.  A hook calls the hooks of the designs in turn, each with its own state,
its own hints, and a plan that contains the offsets of its levels, events and resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from piecewise_numba.natives import Function
from piecewise_numba.records import by_reference, replacing
from warpreg.designs.interface.hooks import HOOKS, combined
from warpreg.designs.interface.paths import PATH_NUMBERS
from warpreg.designs.interface.plan import (
    ALONE,
    FIRST,
    FIRST_READS,
    LATER,
    PART,
    Plan,
    forget,
    forget_results,
    plan_of_part,
)
from warpreg.designs.interface.program import Program

PLANNING_ORDER = ("levels", "operands", "mapping", "policy")
PLANNING = (("plan_reads",), ("plan_write", "produced"))
"""Hooks that plan the sources of an instruction, and its results."""
_with_hints = replacing("hints")


@dataclass(frozen=True)
class Part:
    """One design of a composition: position, slots, hooks, and offsets of its own indices.

    ``uses``: fields of its state that hold the states of other designs, with the positions of these.  ``has_hints``:
    whether the composition has hints, by position.
    """

    position: int
    slots: tuple[str, ...]
    hooks: Mapping[str, FunctionType]
    uses: tuple[tuple[str, int], ...]
    has_hints: bool
    first_level: int
    first_event: int
    first_resource: int
    first_table: int
    first_path: int


def composed_hooks(parts: Sequence[Part]) -> dict[str, FunctionType]:
    """One hook for each hook that any design defines."""
    return {name: _composed(name, parts) for name in HOOKS if any(name in part.hooks for part in parts)}


def _composed(name: str, parts: Sequence[Part]) -> FunctionType:
    defining = [part for part in parts if name in part.hooks]
    planning = planning_parts(parts, next((hooks for hooks in PLANNING if name in hooks), ()))
    if len(planning) > 1:
        defining.sort(key=planning.index)
        return combined(name, _planning(name, planning, defining, parts), [part.hooks[name] for part in defining])
    called = [_part_hook(name, part, parts) for part in defining]
    last = called.pop()
    for one in reversed(called):
        last = _in_turn(one, last)
    return combined(name, last, [part.hooks[name] for part in defining])


def _part_hook(name: str, part: Part, parts: Sequence[Part]) -> Function:
    """The hook of one design, with the arguments of the composed hook."""
    hook, own_state = _own_hook(name, part), _own_state(part, parts)
    first_level, first_event = part.first_level, part.first_event
    first_resource, first_table, first_path = part.first_resource, part.first_table, part.first_path

    def with_plan(state: Any, program: Program, *rest: Any) -> Any:
        plan = rest[-1]
        first_source, first_result = plan.first_source, plan.first_result
        own = plan_of_part(
            plan, ALONE, first_level, first_event, first_resource, first_table, first_path, first_source, first_result
        )
        arguments = rest[:-1] + (own,)  # noqa: RUF005 - compiled code cannot unpack in a display
        return hook(own_state(state), program, *arguments)

    def without_plan(state: Any, program: Program, *rest: Any) -> Any:
        return hook(own_state(state), program, *rest)

    def of_own_path(state: Any, program: Program, warp: int, path: int, register: int, plan: Plan) -> None:
        if first_path <= path < first_path + PATH_NUMBERS:
            with_plan(state, program, warp, path - first_path, register, plan)

    if "path" in HOOKS[name].parameters:
        return of_own_path
    return with_plan if "plan" in HOOKS[name].parameters else without_plan


def _in_turn(first: Function, then: Function) -> Function:
    """A function that calls both hooks in turn."""

    def both(state: Any, program: Program, *rest: Any) -> None:
        first(state, program, *rest)
        then(state, program, *rest)

    return both


def planning_parts(parts: Sequence[Part], hooks: Sequence[str]) -> list[Part]:
    """The designs that define one of these hooks, in the order in which they plan operands."""
    planning = [part for part in parts if not part.hooks.keys().isdisjoint(hooks)]
    return sorted(planning, key=lambda part: planning_rank(part.slots))


def planning_rank(slots: Sequence[str]) -> int:
    """The place of a design of these slots among those that plan operands."""
    return min(PLANNING_ORDER.index(slot) for slot in slots)


def _planning(name: str, planning: Sequence[Part], defining: Sequence[Part], parts: Sequence[Part]) -> Function:
    """The hook that plans operands of an instruction, where several designs plan those: ``planning`` all of them,
    ``defining`` those with this hook.

    The first hook of an instruction finds nothing planned; ``produced`` goes on where ``plan_write`` has planned.
    """
    first = FIRST_READS if name == "plan_reads" else FIRST
    turns = {part.position: LATER if place else first for place, part in enumerate(planning)}
    calls = [_planning_call(name, part, turns[part.position], place, parts) for place, part in enumerate(defining)]
    if name == "plan_reads":
        calls.insert(0, _forget_sources)
    elif name == "plan_write" or not any("plan_write" in part.hooks for part in planning):
        calls.insert(0, _forget_results)
    last = calls.pop()
    for one in reversed(calls):
        last = _in_turn(one, last)
    return last


def _planning_call(name: str, part: Part, turn: int, place: int, parts: Sequence[Part]) -> Function:
    """The hook of the design in this ``place`` of those that define it."""
    hook, own_state = _own_hook(name, part), _own_state(part, parts)
    first_level, first_event = part.first_level, part.first_event
    first_resource, first_table, first_path = part.first_resource, part.first_table, part.first_path

    def plan_operands(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
        first_source, first_result = program.source_start[pc], program.result_start[pc]
        plan.planned[PART] = place
        own = plan_of_part(
            plan, turn, first_level, first_event, first_resource, first_table, first_path, first_source, first_result
        )
        hook(own_state(state), program, warp, pc, own)

    return plan_operands


def _forget_sources(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    forget(plan.sources, program.source_start[pc + 1] - program.source_start[pc])


def _forget_results(state: Any, program: Program, warp: int, pc: int, plan: Plan) -> None:
    forget_results(plan.results, program.result_start[pc + 1] - program.result_start[pc])


def _own_hook(name: str, part: Part) -> Function:
    """The hook of a design, called with the composition's program."""
    hook, position = part.hooks[name], part.position

    def with_own_hints(state: Any, program: Program, *rest: Any) -> Any:
        return hook(state, by_reference(_with_hints(program, program.hints[position])), *rest)

    return with_own_hints if part.has_hints else hook


def _own_state(part: Part, parts: Sequence[Part]) -> Function:
    """The function that takes a design's state, and the states that it uses, out of the composition's."""
    position = part.position

    def state_alone(state: Any) -> Any:
        return state[position]

    found: Function = state_alone
    for name, used in part.uses:
        found = _with_used(found, replacing(name), _own_state(parts[used], parts))
    return found


def _with_used(own: Function, replace: Function, used: Function) -> Function:
    def state_with_used(state: Any) -> Any:
        return replace(own(state), used(state))

    return state_with_used
