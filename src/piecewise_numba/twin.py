"""Twins of functions: the same function as another object."""

from __future__ import annotations

from types import FunctionType


def twin(function: FunctionType) -> FunctionType:
    """The same function as another object: where one of the two is replaced or marked, the other one is not."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    vars(made).update(vars(function))
    return made
