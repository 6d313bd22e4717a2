"""A design bound to one run of a timing core: its state for all warps, its counts, its hooks as the core calls them.

Each bound hook takes ``(d, sm, warp, pc, mask, base, stride, now)`` and what the hook itself takes beside these, makes
the plan and calls the hook; a core compiles them into its own functions.  After a call the operands' details, extra
accesses and woken tokens stand in ``opened(d).details`` as :mod:`warpreg.designs.plan` says.

In plain Python ``d`` is the :class:`Bound` tuple.  Every function of a core passes ``d`` on, and a tuple of fifty
arrays would take seconds to compile in each, so for compiled code ``d`` is one array with the addresses and shapes of
the others, and ``opened`` makes the tuple of it where it is used.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.composed_hooks import PLANNING
from warpreg.designs.design import Design
from warpreg.designs.hooks import HOOKS
from warpreg.designs.plan import INTEGRAL, SINCE, VALUE, Details, Plan, details, forget
from warpreg.designs.program import Program, operand_rows
from warpreg.designs.state import Extent, Field, allocate
from warpreg.timing.opening import identity, made, opener

QUEUE = 4096
"""Extra accesses, and woken tokens, that one call may ask for."""
GIVEN = ("sm", "warp", "pc", "mask", "base", "stride", "now")
"""What every bound hook is given after ``d``; 0 where it means nothing."""
BESIDE = {"token", "next_pc", "cycles"}
"""Parameters of hooks that a bound hook takes after those."""


class Bound(NamedTuple):
    """What bound hooks read and write; all but ``state`` and ``fresh`` are described at Plan.

    ``state`` is the design's State, 0 without one; ``fresh`` has ``rows_NAME`` and ``row_NAME``, what a warp's row
    of a field begins as, 0 without any.
    """

    state: Any
    fresh: Any
    program: Program
    accesses: NDArray[np.int64]
    moves: NDArray[np.int64]
    events: NDArray[np.int64]
    details: Details


@dataclass(frozen=True)
class Binding:
    """``d``, ``opened`` and ``hooks`` by name as a core takes them, for plain Python or for compiled code; ``bound`` is
    the tuple itself, and ``fresh_warp(d, warp)`` gives a warp its rows, None where there are none.
    """

    design: Design
    bound: Bound
    d: Any
    opened: FunctionType
    hooks: Mapping[str, FunctionType]
    fresh_warp: FunctionType | None

    def owner(self, warp: int, token: int) -> int:
        """Who holds what a warp waits for, -1 if nobody does or the design does not say."""
        if "owner" not in self.design.hooks:
            return -1
        return int(self.design.hooks["owner"](self.bound.state, self.bound.program, warp, token))

    def integrals(self, cycles: int) -> dict[str, int]:
        """Each resource's value summed over all cycles and SMs."""
        value, since, total = (self.bound.details.levels[:, :, column] for column in (VALUE, SINCE, INTEGRAL))
        sums = (total + value * (cycles - since)).sum(axis=0).tolist()
        return dict(zip(self.design.declaration.resources, sums, strict=True))


def bind(design: Design, state: tuple[Any, ...], program: Program, sms: int, *, compiled: bool = True) -> Binding:
    """The design with fresh state for ``sms`` SMs of the slots and schedulers that the program is placed for."""
    fields = allocate(design.name, state, Extent.of_sms(sms, program.slots, program.schedulers))
    levels = len(design.levels)
    own = design.declaration
    bound = Bound(
        state=type(state)(*(field.value for field in fields)) if fields else 0,
        fresh=_fresh(fields),
        program=Program(*(_writable(column) for column in program)),
        accesses=np.zeros(levels * 4, np.int64),
        moves=np.zeros((levels, levels), np.int64),
        events=np.zeros(len(own.events), np.int64),
        details=details(*operand_rows(program), QUEUE, sms, len(own.resources)),
    )
    d, opened = opener(bound) if compiled else (bound, identity())
    hooks = {name: _bound(name, hook, opened) for name, hook in design.hooks.items() if name != "owner"}
    return Binding(design, bound, d, opened, hooks, _fresh_warp(fields, opened))


def _writable(column: Any) -> Any:
    """Arrays of one type, whether or not the program's own may be written."""
    return np.require(column, requirements=("C", "W")) if isinstance(column, np.ndarray) else column


def _fresh(fields: tuple[Field, ...]) -> Any:
    reset = dict(_named_resets(fields))
    return collections.namedtuple("Fresh", reset)(**reset) if reset else 0


def _named_resets(fields: tuple[Field, ...]) -> Iterator[tuple[str, NDArray[Any]]]:
    for field in fields:
        if field.reset:
            yield f"rows_{field.name}", field.reset[0]
            yield f"row_{field.name}", field.reset[1]


def _fresh_warp(fields: tuple[Field, ...], opened: FunctionType) -> FunctionType | None:
    names = [field.name for field in fields if field.reset]
    if not names:
        return None
    lines = [
        f"    for index in range(o.row_{name}.size):\n        o.rows_{name}[warp, index] = o.row_{name}[index]\n"
        for name in names
    ]
    text = "def fresh_warp(d, warp):\n    o = opened(d).fresh\n" + "".join(lines)
    return made("fresh_warp", text, {"opened": opened})


def _bound(name: str, hook: FunctionType, opened: FunctionType) -> FunctionType:
    spec = HOOKS[name]
    beside = [one for one in spec.parameters if one in BESIDE]
    lines = [f"def {name}({', '.join(('d', *GIVEN, *beside))}):", "    o = opened(d)"]
    if name in PLANNING:
        operand, rows = PLANNING[name]
        lines.append(f"    forget(o.details.{rows}, o.program.{operand}_start[pc + 1] - o.program.{operand}_start[pc])")
    if "plan" in spec.parameters:
        lines.append(f"    plan = Plan({', '.join(_plan_values('pc' in spec.parameters))})")
    given = {"state": "o.state", "program": "o.program"}
    call = f"hook({', '.join(given.get(one, one) for one in spec.parameters)})"
    lines.append(f"    return {call}" if spec.returns_int else f"    {call}")
    return made(name, "\n".join(lines) + "\n", {"hook": hook, "Plan": Plan, "forget": forget, "opened": opened})


def _plan_values(has_pc: bool) -> list[str]:
    own = {
        "cycle": "now",
        "detailed": "1",
        "datapath": "o.program.datapath[pc]" if has_pc else "0",
        "first_source": "o.program.source_start[pc]" if has_pc else "0",
        "first_result": "o.program.result_start[pc]" if has_pc else "0",
        **dict.fromkeys(("turn", "first_level", "first_event", "first_resource"), "0"),
        **{name: f"o.{name}" for name in ("accesses", "moves", "events")},
        **{name: f"o.details.{name}" for name in Details._fields},
    }
    return [own.get(name, name) for name in Plan._fields]
