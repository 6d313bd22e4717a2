"""Which functions a core consists of, and why: ports in the order of a cycle, with what stands in the place of each.

The order is that of the code: each stage is followed from its first function into every function that it calls.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import warpreg
from piecewise_numba.dependencies import is_library
from piecewise_numba.natives import Function, native_of
from warpreg.designs.interface.hooks import authors_of_hook, is_hook, place
from warpreg.timing.core import port, ports
from warpreg.timing.core.conditions import CoreConfig
from warpreg.timing.sm import block_dispatch, cycle, issue, load_store_unit, wakeup, writeback

STAGES: tuple[tuple[str, tuple[Function, ...]], ...] = (
    ("results return, banks write", (writeback.complete,)),
    ("the load-store unit sends", (load_store_unit.send_one, load_store_unit.expect_head)),
    ("operands are read, instructions are dispatched", (ports.collect,)),
    ("instructions issue", (wakeup.look_again, issue.take_turn, issue.release_barriers, wakeup.fill_active)),
    ("thread blocks leave and come", (block_dispatch.leave, block_dispatch.place)),
    ("between the steps of an SM", (cycle.run,)),
)
"""The stages of a cycle, as in `warpreg.timing.sm.cycle`, with the functions in which they begin."""
ROOT = Path(warpreg.__file__).parent
WRITTEN = "as written"


@dataclass(frozen=True)
class Row:
    """A port of a core: the ``stage`` that reaches it first, the ``port``, the ``function`` that runs, its ``place``
    (file:line) and ``why`` it does.
    """

    stage: str
    port: str
    function: str
    place: str
    why: str


def explained(given: CoreConfig, hooks: Mapping[str, FunctionType]) -> list[Row]:
    """The ports that a core reaches, in the order of a cycle."""
    replaced = with_hooks(given, hooks)
    rows: list[Row] = []
    for stage, reached in by_stage(replaced):
        if reached in port.PORTS:
            last = runs(reached, replaced)
            rows.append(Row(stage, short(reached), short(last), file_line(last), _why(reached, given, hooks)))
    return rows


def by_stage(replaced: Mapping[Function, Function]) -> Iterator[tuple[str, Function]]:
    """The functions of a core, each with the stage that reaches it first."""
    seen: set[Function] = set()
    for stage, begins in STAGES:
        for function in begins:
            for reached in walked(function, replaced, seen):
                yield stage, reached


def with_hooks(given: CoreConfig, hooks: Mapping[str, FunctionType]) -> Mapping[Function, Function]:
    """By port, what takes its place, the hooks of a design included."""
    return {
        **port.replacements(given),
        **{port.HOOKS[name]: hook for name, hook in hooks.items() if name in port.HOOKS},
    }


def walked(function: Function, replaced: Mapping[Function, Function], seen: set[Function]) -> Iterator[Function]:
    """The functions that one calls, itself included, in the order of the code: as they are named, then what runs in
    their place.  What has been ``seen`` is left out.
    """
    if function in seen:
        return
    seen.add(function)
    yield function
    last = runs(function, replaced)
    if last is not function:
        yield from walked(last, replaced, seen)
    elif native_of(function) is None:
        for called in calls(function):
            yield from walked(called, replaced, seen)


def runs(function: Function, replaced: Mapping[Function, Function]) -> Any:
    """What runs in the place of a function."""
    while function in replaced:
        function = replaced[function]
    return function


@functools.cache
def calls(function: FunctionType) -> tuple[Function, ...]:
    """The functions that one names, in the order of its code."""
    functions: list[Function] = []
    value: Any = None
    for instruction in dis.get_instructions(function.__code__):
        if instruction.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = getattr(value, instruction.argval, None)
        else:
            value = None
        if isinstance(value, FunctionType) and not is_library(value.__module__):
            functions.append(value)
    return tuple(dict.fromkeys(functions))


def short(function: Any) -> str:
    """``module.name`` without the packages above; of a hook, as its author wrote it."""
    found = authors_of_hook(function)[0] if is_hook(function) else function
    return f"{found.__module__.rpartition('.')[2]}.{found.__name__}"


def file_line(function: Any) -> str:
    """``file:line`` of the ``def``, from the package on if it is there."""
    found = authors_of_hook(function)[0] if is_hook(function) else function
    return f"{module_path(found)}:{place(found.__code__).rpartition(':')[2]}"


def module_path(function: Function) -> str:
    """The file of a function, from the package on if it is there."""
    path = Path(function.__code__.co_filename)
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _why(reached: Function, given: CoreConfig, hooks: Mapping[str, Any]) -> str:
    around, variant = port.wrappers(given).get(reached), port.chosen(given).get(reached)
    if around is not None:
        return around.when.words
    if variant is not None:
        return variant.when.words
    if reached in port.HOOKS.values() and reached.__name__ in hooks:
        return f"the design defines {reached.__name__}"
    return WRITTEN
