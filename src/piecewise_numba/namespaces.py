"""Namespaces: classes whose attributes compiled code reads as it reads those of a module."""

from __future__ import annotations

from typing import Any


class Namespace:
    """A class that is never instantiated; a function may name its attributes that are functions or plain values."""


def is_namespace(value: Any) -> bool:
    """Whether a value is such a class."""
    return isinstance(value, type) and issubclass(value, Namespace)
