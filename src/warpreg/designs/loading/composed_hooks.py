"""The hooks and the state of several designs as those of one.

The state of a composition has the fields of all states, each after its design's slot.  A hook calls those of the
designs in turn, each with its own state and with a plan that knows where its levels, events and resources begin.
"""

from __future__ import annotations

import collections
import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from warpreg.designs.interface.hooks import HOOKS, hook
from warpreg.designs.interface.plan import ALONE, FIRST, LATER, Plan, forget

PLANNING = {"plan_reads": ("source", "sources"), "plan_write": ("result", "results")}
"""Hooks that plan operands, with the names of these in the program table and in the plan."""
PLANNING_ORDER = ("levels", "mapping", "policy")


@dataclass(frozen=True)
class Part:
    """One design of a composition: slot, hooks, State class if any, and where its own names begin among all."""

    slot: str
    hooks: Mapping[str, FunctionType]
    state: type | None
    first_level: int
    first_event: int
    first_resource: int

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the state's fields."""
        names: tuple[str, ...] = getattr(self.state, "_fields", ())
        return names


def composed_state(parts: Sequence[Part]) -> type:
    """The NamedTuple of all states."""
    return collections.namedtuple("State", [f"{part.slot}_{name}" for part in parts for name in part.fields])


def composed_hooks(parts: Sequence[Part]) -> dict[str, FunctionType]:
    """One hook for each that some part defines."""
    return {name: _composed(name, parts) for name in HOOKS if any(name in part.hooks for part in parts)}


def _composed(name: str, parts: Sequence[Part]) -> FunctionType:
    defining = [part for part in parts if name in part.hooks]
    if name in PLANNING:
        defining.sort(key=lambda part: PLANNING_ORDER.index(part.slot))
    text = _text(name, defining)
    file = f"<composed {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"Plan": Plan, "forget": forget, "__name__": __name__}
    for part in defining:
        namespace |= {f"{part.slot}_{name}": part.hooks[name], f"{part.slot}_state": part.state}
    exec(compile(text, file, "exec"), namespace)
    composed: FunctionType = hook(namespace[name])
    return composed


def _text(name: str, defining: Sequence[Part]) -> str:
    parameters = HOOKS[name].parameters
    lines = [f"def {name}({', '.join(parameters)}):"]
    several = name in PLANNING and len(defining) > 1
    if several:
        operand, rows = PLANNING[name]
        lines.append(f"    forget(plan.{rows}, program.{operand}_start[pc + 1] - program.{operand}_start[pc])")
    for position, part in enumerate(defining):
        turn = ALONE if not several else FIRST if position == 0 else LATER
        given = {"state": _state_text(part), "plan": _plan_text(part, turn, several)}
        call = f"{part.slot}_{name}({', '.join(given.get(one, one) for one in parameters)})"
        lines.append(f"    return {call}" if HOOKS[name].returns_int else f"    {call}")
    return "\n".join(lines) + "\n"


def _state_text(part: Part) -> str:
    values = ", ".join(f"state.{part.slot}_{name}" for name in part.fields)
    return f"{part.slot}_state({values})" if part.fields else "0"


def _plan_text(part: Part, turn: int, several: bool) -> str:
    own = {"turn": turn, **{name: getattr(part, name) for name in ("first_level", "first_event", "first_resource")}}
    starts = {"first_source": "program.source_start[pc]", "first_result": "program.result_start[pc]"} if several else {}
    given = {name: f"plan.{name}" for name in Plan._fields} | starts | {name: str(value) for name, value in own.items()}
    return f"Plan({', '.join(given[name] for name in Plan._fields)})"
