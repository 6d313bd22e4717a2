"""The hooks that a design may define, and the decorator that checks a hook's name and parameters.

A hook is a plain function in the numba subset of Python.  The core compiles hooks, and the undecorated functions they
call, into its own loop.  A hook that a design does not define costs nothing.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from warpreg.designs.errors import DesignError
from warpreg.ir.errors import UnknownNameError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class HookSpec:
    """What a hook decides, its required parameter names in order, and whether it returns an integer or nothing."""

    parameters: tuple[str, ...]
    decides: str
    returns_int: bool = False


_WARP = ("state", "program", "warp", "plan")
_SM = ("state", "program", "sm", "plan")
_INSTRUCTION = ("state", "program", "warp", "pc", "plan")
_ADDRESSES = ("base", "stride", "mask", "plan")
_TURN = ("state", "program", "scheduler", "plan")

HOOKS: dict[str, HookSpec] = {
    "block_start": HookSpec(_SM, "the state of an SM before a thread block starts there, before its warps start"),
    "warp_start": HookSpec(_WARP, "the initial state of a warp, beyond the rows that per_warp declares"),
    "activated": HookSpec(_WARP, "what happens when a warp enters its scheduler's active set"),
    "priority": HookSpec(
        ("state", "program", "warp", "pc"),
        "which warp issues first: the highest, the scheduler's order among equals",
        True,
    ),
    "turns_start": HookSpec(
        _TURN, "how state changes before the schedulers of an SM take their turns, in every cycle, for each of them"
    ),
    "choose": HookSpec(
        _TURN, "which of the warps that can issue the scheduler takes, in place of its own order; NOBODY: none", True
    ),
    "admit": HookSpec(
        _INSTRUCTION,
        "whether instruction pc, which is ready, may issue: GO, a token to wait for, or after(plan, cycles)",
        True,
    ),
    "plan_reads": HookSpec(
        _INSTRUCTION, "which level serves each source operand of instruction pc (one each), and moves between levels"
    ),
    "plan_write": HookSpec(
        _INSTRUCTION,
        "which levels each result of instruction pc is written to; called after plan_reads of the same instruction",
    ),
    "issued": HookSpec(_INSTRUCTION, "how state changes when instruction pc has issued; it plans no operands"),
    "collected": HookSpec(
        ("state", "program", "warp", "pc", "operand", "plan"),
        "how state changes when the collector has read a source operand of instruction pc",
    ),
    "load_lookup": HookSpec(
        ("state", "program", "warp", "pc", *_ADDRESSES),
        "the cycles until a global load completes without accessing memory; 0: it accesses memory",
        True,
    ),
    "memory_issued": HookSpec(_INSTRUCTION, "how state changes when an instruction accesses memory"),
    "memory_returned": HookSpec(
        ("state", "program", "warp", "pc", "cycles", "plan"), "how state changes given the cycles that memory took"
    ),
    "produced": HookSpec(
        _INSTRUCTION,
        "which levels the results of instruction pc are written to, when they leave their unit or memory",
    ),
    "arrived": HookSpec(_INSTRUCTION, "where the results of long-latency instruction pc go when they arrive"),
    "written_back": HookSpec(
        ("state", "program", "warp", "pc", "next_pc", *_ADDRESSES),
        "how state changes at writeback of pc, given the warp's next instruction and its addresses",
    ),
    "buffered": HookSpec(
        ("state", "program", "warp", "pc", "ahead", *_ADDRESSES),
        "how state changes when instruction pc, the next of its warp or the one behind that, waits for no result",
    ),
    "stalled": HookSpec(
        _INSTRUCTION, "how state changes when a warp begins to wait for memory, a barrier, a fence or a token"
    ),
    "resumed": HookSpec(_INSTRUCTION, "how state changes when it waits no longer"),
    "transferred": HookSpec(
        ("state", "program", "warp", "path", "register", "plan"),
        "how state changes when a register that was transferred along a path, or fetched from memory, is there",
    ),
    "turns_end": HookSpec(_TURN, "how state changes after all schedulers of an SM have taken their turns"),
    "suspended": HookSpec(_WARP, "what happens when a warp leaves its scheduler's active set"),
    "warp_end": HookSpec(_WARP, "how state changes when a warp has ended (in a replay: when its thread block has)"),
    "block_end": HookSpec(_SM, "how state changes when a thread block ends, after all its warps have ended"),
    "owner": HookSpec(
        ("state", "program", "warp", "token"),
        "which warp holds the token that warp waits for, -1 if none; for messages only",
        True,
    ),
}
"""The order is that of the calls during a warp's life."""


def hook(function: Function) -> Function:
    """Mark ``function`` as a hook.  Raises DesignError for an unknown name or wrong parameters."""
    checked = cast(FunctionType, function)
    name, code = checked.__name__, checked.__code__
    if name not in HOOKS:
        raise DesignError(f"{place(code)}: {UnknownNameError('hook', name, HOOKS)}")
    expected, found = HOOKS[name].parameters, _parameters(checked)
    if found != expected:
        raise DesignError(f"{place(code)}: hook {name} takes ({', '.join(expected)}), found ({', '.join(found)})")
    checked.__dict__["is_hook"] = True
    return function


def combined(name: str, function: Callable[..., Any], parts: Sequence[FunctionType]) -> FunctionType:
    """Mark ``function`` as the hook ``name`` that calls the hooks ``parts`` of several designs."""
    made = cast(FunctionType, function)
    made.__name__ = name
    made.__dict__.update(is_hook=True, parts=tuple(parts))
    return made


def parts_of_hook(function: FunctionType) -> tuple[FunctionType, ...]:
    """The hooks that a combined hook calls; of another hook, itself."""
    parts: tuple[FunctionType, ...] = function.__dict__.get("parts", (function,))
    return parts


def authors_of_hook(function: FunctionType) -> tuple[FunctionType, ...]:
    """The functions that authors wrote, of which checks or a composition made this hook."""
    return tuple(part.__dict__.get("author", part) for part in parts_of_hook(function))


def is_hook(value: object) -> bool:
    """Whether ``value`` is a function decorated with ``@hook``."""
    return isinstance(value, FunctionType) and value.__dict__.get("is_hook", False) is True


def hooks_of(namespace: Mapping[str, object]) -> dict[str, FunctionType]:
    """The hooks among the values of a module, by name."""
    return {name: cast(FunctionType, value) for name, value in namespace.items() if is_hook(value)}


def place(code: CodeType) -> str:
    """``file:line`` of the ``def`` of a function, after its decorators."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return f"{code.co_filename}:{line}"


def _parameters(function: FunctionType) -> tuple[str, ...]:
    """Parameter names in order, with the stars of variadic ones."""
    empty = inspect.Parameter.empty
    return tuple(
        str(p.replace(annotation=empty, default=empty)) for p in inspect.signature(function).parameters.values()
    )
