"""Bind functions by rebuilding them: each copy has globals that are copies of its callees.

Authors call plain functions without decorators, hooks of a design replace the defaults of a core, and a hook that is
not defined leaves no code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from piecewise_numba.dependencies import NOTHING_REPLACED, is_library, names_in
from piecewise_numba.namespaces import is_namespace
from piecewise_numba.natives import Function, native_of
from piecewise_numba.noinline import is_noinline

ORIGIN = "origin"


def origin_of(copy: Function) -> Function:
    """The function that `rebuild` has copied."""
    original: Function = vars(copy)[ORIGIN]
    return original


def rebuild(
    functions: Mapping[str, Function],
    compiled: Callable[[FunctionType], Any],
    replaced: Mapping[Function, Function] = NOTHING_REPLACED,
    *,
    natives: bool = True,
) -> dict[str, Any]:
    """``compiled`` of each function, with every plain function that they reach replaced by ``compiled`` of that one.

    ``replaced`` first maps plain functions to their replacements.  With ``natives``, functions with an intrinsic are
    replaced by it (`piecewise_numba.natives`).
    """
    return _Rebuilder(compiled, replaced, natives).functions(functions)


@contextmanager
def rebuilt_for_now(
    functions: Mapping[str, Function], compiled: Callable[[FunctionType], Any], replaced: Mapping[Function, Function]
) -> Iterator[dict[str, Any]]:
    """`rebuild`, for use in this context: afterwards, modules that the functions use are empty.  numba keeps the types
    of modules that it has met, and with them all that their functions reach.  After an exception they stay, because
    numba writes its messages when they are read.
    """
    rebuilder = _Rebuilder(compiled, replaced, natives=True)
    yield rebuilder.functions(functions)
    for module in rebuilder.stand_ins:
        vars(module).clear()


def as_it_is(function: FunctionType) -> FunctionType:
    """Identity in place of a compiler: functions stay plain Python."""
    return function


@functools.lru_cache(maxsize=512)
def reaches(functions: tuple[FunctionType, ...], targets: tuple[FunctionType, ...]) -> bool:
    """Whether one of the functions calls one of the targets, also through functions."""
    reached: set[CodeType] = set()

    def note(function: FunctionType) -> FunctionType:
        reached.add(function.__code__)
        return function

    rebuild({str(number): function for number, function in enumerate(functions)}, note, natives=False)
    return not reached.isdisjoint(target.__code__ for target in targets)


@functools.cache
def calls_out_of_line(functions: tuple[FunctionType, ...]) -> bool:
    """Whether one of the functions calls one that is out of line, also through functions."""
    noinline: list[FunctionType] = []

    def note(function: FunctionType) -> FunctionType:
        noinline.extend([function] if is_noinline(function) else [])
        return function

    rebuild({str(number): function for number, function in enumerate(functions)}, note, natives=False)
    return bool(noinline)


class _Rebuilder:
    def __init__(
        self, compiled: Callable[[FunctionType], Any], replaced: Mapping[Function, Function], natives: bool
    ) -> None:
        self._compiled = compiled
        self._replaced = replaced
        self._natives = natives
        self._done: dict[Function, Any] = {}
        self.stand_ins: list[ModuleType] = []

    def functions(self, functions: Mapping[str, Function]) -> dict[str, Any]:
        return {name: self.function(function) for name, function in functions.items()}

    def function(self, function: Function) -> Any:
        while function in self._replaced:
            function = self._replaced[function]
        if function not in self._done:
            make = native_of(function) if self._natives else None
            if make is not None:
                self._done[function] = make()
            else:
                self._copy(function)
        return self._done[function]

    def _copy(self, function: Function) -> None:
        code, names = function.__code__, dict(function.__globals__)
        cells = tuple(CellType() for _ in code.co_freevars)
        copy = FunctionType(code, names, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__module__ = function.__module__
        copy.__qualname__ = function.__qualname__
        vars(copy).update(vars(function))
        vars(copy)[ORIGIN] = function
        self._done[function] = self._compiled(copy)
        attributes = names_in(code)
        names.update((name, self._value(names[name], attributes)) for name in attributes if name in names)
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self._value(old.cell_contents, attributes)

    def _value(self, value: Any, attributes: tuple[str, ...]) -> Any:
        if isinstance(value, FunctionType) and not is_library(value.__module__):
            return self.function(value)
        if is_namespace(value) or (isinstance(value, ModuleType) and not is_library(value.__name__)):
            stand_in = ModuleType(value.__name__)
            self.stand_ins.append(stand_in)
            found = [(name, getattr(value, name)) for name in attributes if hasattr(value, name)]
            vars(stand_in).update((name, self._value(inner, attributes)) for name, inner in found)
            return stand_in
        return value
