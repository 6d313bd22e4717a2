"""Checks in compiled code: one comparison, and an exit to a `HookFaultError` that is hardly ever taken.

A guard returns what it was given, so that it takes the place of an expression.  ``site`` and ``kind`` are numbers of
the caller's, which go to the fault record (`piecewise_numba.fault_record`) together with the value and its range.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from piecewise_numba.fault_record import HIGH, KIND, LOW, RECORD, SITE, VALUE, HookFaultError
from piecewise_numba.natives import native

LAST_SHIFT = 63


def _intrinsic(name: str) -> Any:
    from piecewise_numba.guard_intrinsics import INTRINSICS

    return INTRINSICS[name]


def _native(name: str) -> Any:
    return native(partial(_intrinsic, name))


@_native("fail")
def fail(site: int, kind: int, value: Any, low: Any, high: Any) -> None:
    """Write down what is wrong and end the run."""
    RECORD[[SITE, KIND, VALUE, LOW, HIGH]] = site, kind, value, low, high
    raise HookFaultError


@_native("require")
def require(site: int, kind: int, value: Any, low: Any, high: Any) -> Any:
    """A number from ``low`` to ``high``."""
    if not low <= value <= high:
        fail(site, kind, value, low, high)
    return value


@_native("is_outside")
def is_outside(number: Any, count: Any) -> bool:
    """Whether a number is not one of 0 to ``count`` - 1, in one comparison."""
    return not 0 <= number < count


@_native("at")
def at(site: int, kind: int, array: Any, axis: int, index: Any) -> Any:
    """An index of one dimension of an array; it does not count from the end."""
    return require(site, kind, index, 0, array.shape[axis] - 1)


@_native("only")
def only(site: int, kind: int, sequence: Any, index: Any) -> Any:
    """The index of an array, of its first dimension, or of a tuple."""
    return require(site, kind, index, 0, len(sequence) - 1)


@_native("sized")
def sized(site: int, kind: int, sequence: Any, index: int) -> Any:
    """An array or a tuple that has an element at the constant ``index``, which may count from the end."""
    if not -len(sequence) <= index < len(sequence):
        fail(site, kind, index, 0, len(sequence) - 1)
    return sequence


@_native("nonzero")
def nonzero(site: int, kind: int, divisor: Any) -> Any:
    """A divisor."""
    if divisor == 0:
        fail(site, kind, 0, 0, 0)
    return divisor


@_native("plain")
def plain(number: int) -> int:
    """A constant that compiled code passes as a number, so that a function is compiled once for all constants."""
    return number
