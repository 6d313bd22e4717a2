"""Functions that are compiled out of line because they are rarely called.

The machine code of a core should fit the host's first-level instruction cache, so only frequent calls are inlined.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from piecewise_numba.twin import twin

F = TypeVar("F", bound=Callable[..., Any])


def noinline(function: F) -> F:
    """Mark a function as out of line."""
    vars(function)["noinline"] = True
    return function


def apart(function: F) -> F:
    """Mark a function as out of line, and as a unit of its own (`piecewise_numba.units`), which entry points share."""
    vars(function)["apart"] = True
    return noinline(function)


def is_apart(function: Callable[..., Any]) -> bool:
    """Whether a function is marked as a unit of its own."""
    return "apart" in vars(function)


def is_noinline(function: Callable[..., Any]) -> bool:
    """Whether a function is marked."""
    return "noinline" in vars(function)


@functools.cache
def out_of_line(function: FunctionType) -> FunctionType:
    """A twin of a function that is out of line, to take its place where it has become large."""
    return noinline(twin(function))
