"""The hooks of a design with checks in them and around them.

In them `rewrite` guards what an author's code does: the author's functions and those of the package that they call.
Around them a hook says for whom it is called and which operands it may plan, and afterwards whether all were planned,
and whether the answer and what was queued are in range.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, cast

from piecewise_numba.natives import native_of
from piecewise_numba.rebuild import rebuild
from warpreg.designs.checking import words
from warpreg.designs.checking.around import OF_VALUES, Way, around
from warpreg.designs.checking.ranges import MAX_LEVELS, guards_of_main, ranges_of
from warpreg.designs.checking.rewrite import ALONE, GUARD_OF, PLAN_MODULES, PREFIX, Rewriter
from warpreg.designs.checking.sites import Sites
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.interface.hooks import HOOKS, place

NOT_REWRITTEN = "piecewise_numba."


def checked_hooks(
    name: str, declared: Declaration, hooks: Mapping[str, FunctionType], is_own: bool = False
) -> dict[str, FunctionType]:
    """The hooks of the design ``name`` with checks.  Raises DesignError for code that cannot be checked.

    Designs of the package (``is_own``) may share functions that ask for more than they declare, behind a switch: there
    only the call itself fails.
    """
    if len(declared.levels) > MAX_LEVELS:
        raise DesignError(f"{name}: checks are made for at most {MAX_LEVELS} levels, found {len(declared.levels)}")
    sites, number = Sites(), zlib.crc32(name.encode())
    places = {one: _place_of(hook, sites) for one, hook in hooks.items()}
    inside, planned = _rewritten(declared, hooks, sites)
    for one, declares in {**OF_VALUES, "lane_address": "lanes"}.items():
        if one in planned and not getattr(declared, declares) and not is_own:
            raise DesignError(f"{name}: {one} requires DESIGN = Declaration(..., {declares}=True)")
    undeclared = {one for one, declares in OF_VALUES.items() if not getattr(declared, declares)}
    uses = frozenset(planned - undeclared)
    in_two_hooks = {"plan_write", "produced"} <= hooks.keys()
    checked = {}
    for index, one in enumerate(HOOKS):
        if one in hooks:
            way = Way(words.caller(number, index), places[one], uses, in_two_hooks)
            made = cast(FunctionType, around(one, inside[one], way))
            made.__name__ = one
            vars(made).update(is_hook=True, author=hooks[one], sites=sites, design=number)
            checked[one] = made
    return checked


def _place_of(hook: FunctionType, sites: Sites) -> int:
    """The site of a hook as a whole."""
    file, _, line = place(hook.__code__).rpartition(":")
    return sites.add(file, ast.Pass(lineno=int(line), col_offset=0), hook.__name__)


def _rewritten(
    declared: Declaration, hooks: Mapping[str, FunctionType], sites: Sites
) -> tuple[Mapping[str, FunctionType], set[str]]:
    """The hooks with checks in them, and the plan functions and their arguments that they use."""
    ranges = ranges_of(declared)
    calls: dict[CodeType, list[tuple[FunctionType, int]]] = {}
    planned: set[str] = set()
    refused: dict[CodeType, DesignError] = {}
    names: list[dict[str, Any]] = []

    def rewritten(function: FunctionType) -> FunctionType:
        if function.__module__ in PLAN_MODULES:
            return cast(FunctionType, vars(PLAN_MODULES[function.__module__]).get(function.__name__, function))
        if native_of(function) is not None or function.__module__.startswith(NOT_REWRITTEN):
            return function
        rewriter = Rewriter(function, sites, ranges)
        try:
            result = rewriter.rewritten()
        except DesignError as error:
            refused[function.__code__] = error
            return function
        calls[function.__code__] = rewriter.calls
        planned.update(rewriter.planned | rewriter.used)
        names.append(result.__globals__)
        return result

    rebuilt = rebuild(hooks, rewritten, natives=False)
    guards = GUARD_OF if "merged" in planned else {**GUARD_OF, **ALONE}
    if declared.main_mask > 1:
        guards = {**guards, **guards_of_main(declared.main_mask)}
    for one in names:
        one.update((PREFIX + guard, guards[guard]) for guard in planned if guard in guards)
    for hook in hooks.values():
        _follow(hook.__code__, (), calls, refused, set())
    return rebuilt, planned


def _follow(
    code: CodeType,
    above: tuple[CodeType, ...],
    calls: Mapping[CodeType, Sequence[tuple[FunctionType, int]]],
    refused: Mapping[CodeType, DesignError],
    done: set[CodeType],
) -> None:
    """Raises DesignError for code that hooks use and that cannot be checked: what was ``refused``, and functions that
    call each other in a circle, which could exhaust the stack.
    """
    if code in refused:
        raise refused[code]
    for called, line in calls.get(code, ()):
        if called.__code__ in (*above, code):
            raise DesignError(
                f"{code.co_filename}:{line}: {called.__name__} calls itself, which cannot be checked; write a loop"
            )
        if called.__code__ not in done:
            _follow(called.__code__, (*above, code), calls, refused, done)
    done.add(code)
