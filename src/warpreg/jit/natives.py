"""Plain functions that compiled code has an intrinsic for: one machine instruction, or what the subset lacks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

Function = Callable[..., Any]
"""A plain Python function; type checkers do not know that a ``def`` makes one."""
F = TypeVar("F", bound=Callable[..., Any])


def native(make: Callable[[], Any]) -> Callable[[F], F]:
    """Mark a function: compiled code calls the intrinsic that ``make()`` returns; as plain Python it runs as written.

    numba is imported by ``make`` only, so that a start without compiling stays short.  The key of compiled code covers
    the file of ``make`` (`warpreg.jit.dependencies`).
    """

    def mark(function: F) -> F:
        vars(function)["native"] = make
        return function

    return mark


def nothing(function: F) -> F:
    """Mark a function that does nothing, such as the default of a hook: compiled code has no call of it at all."""
    return native(partial(_nothing, len(inspect.signature(function).parameters)))(function)


@functools.cache
def _nothing(parameters: int) -> Any:
    from numba.core import types
    from numba.extending import intrinsic

    none: Any = types.none

    def do_nothing(typing_context: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return context.get_dummy_value()

        return none(*arguments), generate

    names = ["typing_context", *(f"argument_{place}" for place in range(parameters))]
    kind = inspect.Parameter.POSITIONAL_ONLY
    cast(Any, do_nothing).__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return cast(Any, intrinsic)(do_nothing)


def native_of(function: Function) -> Callable[[], Any] | None:
    """What makes the intrinsic of a function; None where it has none."""
    make: Callable[[], Any] | None = vars(function).get("native")
    return make
