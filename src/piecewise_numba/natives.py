"""Plain functions with an intrinsic in compiled code: a single machine instruction, or an operation that numba
lacks.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

Function = Callable[..., Any]
"""A plain Python function; type checkers do not infer this type for a ``def``."""
F = TypeVar("F", bound=Callable[..., Any])


def native(make: Callable[[], Any]) -> Callable[[F], F]:
    """Mark a function: compiled code calls the intrinsic that ``make()`` returns; interpreted, the function runs as
    written.

    Only ``make`` imports numba, so that a start without compilation is fast.  The key of compiled code covers the file
    of ``make`` (`piecewise_numba.dependencies`).
    """

    def mark(function: F) -> F:
        vars(function)["native"] = make
        return function

    return mark


def nothing(function: F) -> F:
    """Mark a function without effect, such as the default of a hook: compiled code contains no call of it."""
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
    """The maker of a function's intrinsic; None if it has none."""
    make: Callable[[], Any] | None = vars(function).get("native")
    return make
