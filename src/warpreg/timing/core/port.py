"""Ports: the functions of the core that others may replace, and what stands in their place when.

`port` marks a function where it is defined, and says what may replace it.  `stands_for` marks a variant where that is
defined, with the property of machine, design, kernel or run under which it is chosen; `constant` does so for a number,
`wraps` for a function that calls what it replaces.  The marks are kept here, not on the functions: compiled code and
its keys do not depend on them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from piecewise_numba.natives import Function
from piecewise_numba.twin import twin
from warpreg.timing.core.conditions import Condition, CoreConfig

F = TypeVar("F", bound=Callable[..., Any])
CORES = 64
"""Choices that are kept, of what cores are compiled for."""


@dataclass(frozen=True)
class Variant:
    """What stands for a port ``when`` a property holds: a ``function``, or one that returns a ``value``.

    ``original``: a placeholder that the function calls; what would stand for the port without it takes its place.
    """

    port: Function
    when: Condition
    function: Function | None = None
    value: Callable[[CoreConfig], int] | None = None
    original: Function | None = None

    def made(self, given: CoreConfig) -> Function:
        """The function that takes the place of the port."""
        return known(self.value(given)) if self.value is not None else cast(Function, self.function)


PORTS: dict[Function, str] = {}
"""By port, what may stand in its place."""
VARIANTS: list[Variant] = []
HOOKS: dict[str, Function] = {}
"""By hook, the placeholder that the design's own one replaces."""


def port(replaced_by: str) -> Callable[[F], F]:
    """Mark a function of the core as replaceable, with a word on what ``replaced_by``."""

    def mark(function: F) -> F:
        PORTS[function] = replaced_by
        return function

    return mark


def placeholder(function: F) -> F:
    """Mark a function as the place of the design's hook of the same name."""
    HOOKS[function.__name__] = function
    return port(f"the design's {function.__name__}")(function)


def stands_for(place: Function, when: Condition) -> Callable[[F], F]:
    """Mark a function as what stands for a port.  Raises TypeError for a function that is no port."""

    def mark(function: F) -> F:
        _add(Variant(place, when, function))
        return function

    return mark


def constant(when: Condition, value: Callable[[CoreConfig], int]) -> Callable[[F], F]:
    """Mark a function without parameters as a port that is a constant ``when`` a property holds."""

    def mark(function: F) -> F:
        port("a constant of the compiled core")(function)
        _add(Variant(function, when, value=value))
        return function

    return mark


def wraps(place: Function, original: Function, when: Condition) -> Callable[[F], F]:
    """Mark a function that does more than what stands for a port, and calls that as ``original``."""

    def mark(function: F) -> F:
        port("what it is around")(original)
        _add(Variant(place, when, function, original=original))
        return function

    return mark


def known(value: int) -> Function:
    """A function without parameters that returns ``value``, for the compiled core."""

    def known() -> int:
        return value

    return known


@functools.lru_cache(CORES)
def chosen(given: CoreConfig) -> Mapping[Function, Variant]:
    """By port, the variant that stands in its place.  Raises TypeError if two variants would stand for one port."""
    variants: dict[Function, Variant] = {}
    for one in VARIANTS:
        if one.original is None and one.when.holds(given):
            if one.port in variants:
                raise TypeError(
                    f"two variants stand for {name_of(one.port)}: {variants[one.port].when.words}; {one.when.words}"
                )
            variants[one.port] = one
    return variants


def wrappers(given: CoreConfig) -> Mapping[Function, Variant]:
    """By port, what is put around it."""
    return {one.port: one for one in VARIANTS if one.original is not None and one.when.holds(given)}


@functools.lru_cache(CORES)
def replacements(given: CoreConfig) -> Mapping[Function, Function]:
    """By port, the function that takes its place in a core."""
    functions = {place: one.made(given) for place, one in chosen(given).items()}
    around: dict[Function, Function] = {}
    for place, one in wrappers(given).items():
        around[place] = cast(Function, one.function)
        around[cast(Function, one.original)] = _twin(_last(place, functions))
    return functions | around


def check(replaced: Iterable[Function]) -> None:
    """Raise TypeError if a function is replaced that is no port."""
    for function in replaced:
        if function not in PORTS:
            raise TypeError(f"{name_of(function)} is replaced and no port: mark it with @port")


def name_of(function: Function) -> str:
    """Module and name of a function."""
    return f"{function.__module__}.{function.__qualname__}"


_twin = functools.cache(twin)
"""One twin of each function, since compiled code is found by its functions."""


def _last(function: Function, found: Mapping[Function, Function]) -> Any:
    while function in found:
        function = found[function]
    return function


def _add(variant: Variant) -> None:
    check((variant.port,))
    VARIANTS.append(variant)
    chosen.cache_clear()
    replacements.cache_clear()
