"""Functions that a compiled core calls seldom, and that it holds once instead of wherever they are called.

A core's machine code should fit the host's first-level cache; what is called in every cycle is put where it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def seldom(function: F) -> F:
    """Mark a function."""
    vars(function)["seldom"] = True
    return function


def is_seldom(function: Callable[..., Any]) -> bool:
    return "seldom" in vars(function)
