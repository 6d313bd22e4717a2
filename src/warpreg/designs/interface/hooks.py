"""Which hooks a design may define, and the check of a hook's name and parameters where it is written.

A hook is a plain function in the numba subset of Python.  The core that drives it compiles it into its own loop, so a
hook that a design does not define costs nothing, and undecorated functions that a hook calls are compiled with it.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from warpreg.designs.errors import DesignError
from warpreg.ir.errors import UnknownNameError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class HookSpec:
    """What a hook decides, the parameters it must take, by name and in this order, and whether it returns an integer
    (nothing otherwise).
    """

    parameters: tuple[str, ...]
    decides: str
    returns_int: bool = False


_WARP = ("state", "program", "warp", "plan")
_SM = ("state", "program", "sm", "plan")
_INSTRUCTION = ("state", "program", "warp", "pc", "plan")
_ADDRESSES = ("base", "stride", "mask", "plan")

HOOKS: dict[str, HookSpec] = {
    "block_start": HookSpec(_SM, "what a thread block finds that is about to start on an SM, before its warps start"),
    "warp_start": HookSpec(
        ("state", "program", "warp"), "what a fresh warp finds, beyond the rows that per_warp declares"
    ),
    "activated": HookSpec(_WARP, "what happens when a warp enters its scheduler's active set"),
    "priority": HookSpec(
        ("state", "program", "warp", "pc"),
        "which warp issues first: the highest, the scheduler's order among equals",
        True,
    ),
    "admit": HookSpec(
        _INSTRUCTION, "whether instruction pc, which could issue now, does so: GO, or a token to wait for", True
    ),
    "plan_reads": HookSpec(
        _INSTRUCTION, "for each source operand of instruction pc, once, which level serves it; and moves between levels"
    ),
    "plan_write": HookSpec(
        _INSTRUCTION,
        "for each result of instruction pc, which levels take it; called after plan_reads of the same instruction",
    ),
    "load_lookup": HookSpec(
        ("state", "program", "warp", "pc", *_ADDRESSES),
        "after how many cycles a global load is complete that need not go to memory; 0: it goes there",
        True,
    ),
    "memory_issued": HookSpec(_INSTRUCTION, "what follows from a memory instruction that goes to memory"),
    "memory_returned": HookSpec(
        ("state", "program", "warp", "pc", "cycles", "plan"), "what follows from how long memory took for it"
    ),
    "arrived": HookSpec(
        _INSTRUCTION, "what becomes of the results of a long-latency instruction pc, which are there now"
    ),
    "written_back": HookSpec(
        ("state", "program", "warp", "pc", "next_pc", *_ADDRESSES),
        "what follows from the results of pc and from the warp's next instruction and its addresses",
    ),
    "suspended": HookSpec(_WARP, "what happens when a warp leaves its scheduler's active set"),
    "warp_end": HookSpec(
        _WARP, "what becomes of the state of a warp that has ended (in a replay: whose thread block has)"
    ),
    "block_end": HookSpec(_SM, "what a thread block leaves behind, after all its warps have ended"),
    "owner": HookSpec(
        ("state", "program", "warp", "token"),
        "which warp holds what warp waits for, -1 if none; for messages only",
        True,
    ),
}
"""In the order in which the life of a warp meets them."""


def hook(function: Function) -> Function:
    """Mark ``function`` as a hook.  Raises DesignError for a name or parameters that are no hook's."""
    checked = cast(FunctionType, function)
    name, code = checked.__name__, checked.__code__
    if name not in HOOKS:
        raise DesignError(f"{place(code)}: {UnknownNameError('hook', name, HOOKS)}")
    expected, found = HOOKS[name].parameters, _parameters(checked)
    if found != expected:
        raise DesignError(f"{place(code)}: hook {name} takes ({', '.join(expected)}), found ({', '.join(found)})")
    checked.__dict__["is_hook"] = True
    return function


def is_hook(value: object) -> bool:
    """Whether ``value`` is a function under ``@hook``."""
    return isinstance(value, FunctionType) and value.__dict__.get("is_hook", False) is True


def hooks_of(namespace: Mapping[str, object]) -> dict[str, FunctionType]:
    """The hooks among the values of a module, by name."""
    return {name: cast(FunctionType, value) for name, value in namespace.items() if is_hook(value)}


def place(code: CodeType) -> str:
    """``file:line`` of the ``def`` of a function, its decorators skipped."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return f"{code.co_filename}:{line}"


def _parameters(function: FunctionType) -> tuple[str, ...]:
    """Names in order, starred as written."""
    empty = inspect.Parameter.empty
    return tuple(
        str(p.replace(annotation=empty, default=empty)) for p in inspect.signature(function).parameters.values()
    )
