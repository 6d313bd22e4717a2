"""Functions that a compiled core holds once instead of wherever they are called, because it calls them seldom.

A core's machine code should fit the host's first-level cache; what is called in every cycle is put where it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def noinline(function: F) -> F:
    """Mark a function."""
    vars(function)["noinline"] = True
    return function


def is_noinline(function: Callable[..., Any]) -> bool:
    """Whether it is marked."""
    return "noinline" in vars(function)
