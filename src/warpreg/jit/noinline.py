"""Functions that are compiled out of line because they are rarely called.

The machine code of a core should fit the host's first-level instruction cache, so only frequent calls are inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def noinline(function: F) -> F:
    """Mark a function as out of line."""
    vars(function)["noinline"] = True
    return function


def is_noinline(function: Callable[..., Any]) -> bool:
    """Whether a function is marked."""
    return "noinline" in vars(function)
