"""Choice of the compiler: the fast one if the numba version is supported, else plain numba."""

from __future__ import annotations

import functools
import importlib.util
import re
import warnings
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from piecewise_numba.call_graph import CallGraph
from piecewise_numba.natives import Function
from piecewise_numba.options import OPTIONS

KNOWN = "0.68."
"""The versions of numba that `piecewise_numba.numba_internals` supports; pyproject.toml requires one of them."""


class CompilerWarning(RuntimeWarning):
    """Compilation is slower than with the pinned version of numba."""


class Compilation(Protocol):
    """Compiles one entry point and what it calls."""

    def inlined(self, function: Function) -> Any:
        """The dispatcher of a function that compiled functions call."""

    def outermost(self, function: Function, signature: tuple[Any, ...], told: Collection[Any]) -> Any:
        """A function called from Python, compiled for arguments of these numba types.

        The dispatchers ``told`` then have the signatures of their functions.
        """


class Compiler(Protocol):
    """Compiles functions to machine code."""

    def begin(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> Compilation:
        """A compilation of the functions of a graph; ``checked`` adds bounds checks of arrays.

        ``outside``: hooks that are out of line.  ``label``: 32 or more characters that no other recipe has.
        """

    def selecting(self) -> AbstractContextManager[None]:
        """In this context, compilation prefers conditional moves to branches."""


class PlainCompilation:
    """numba's own ``njit`` through its documented interface."""

    def __init__(self, checked: bool) -> None:
        import numba

        njit: Any = numba.njit
        self._njit = functools.partial(njit, **OPTIONS, boundscheck=checked)

    def inlined(self, function: Function) -> Any:
        return self._njit()(function)

    def outermost(self, function: Function, signature: tuple[Any, ...], told: Collection[Any]) -> Any:
        return self._njit(signature)(function)


class PlainCompiler:
    """numba's own ``njit``; machine code is not stored."""

    def begin(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> PlainCompilation:
        return PlainCompilation(checked)

    def selecting(self) -> AbstractContextManager[None]:
        import contextlib

        return contextlib.nullcontext()


def compiler() -> Compiler:
    """The compiler for the installed version of numba."""
    version = numba_version()
    if not version.startswith(KNOWN):
        _warn(version)
        return PlainCompiler()
    from piecewise_numba.numba_internals import FastCompiler

    return FastCompiler()


@functools.cache
def numba_version() -> str:
    """The installed version of numba, which is not imported for it."""
    package = importlib.util.find_spec("numba")
    origin = None if package is None else package.origin
    found = re.search(r'"version": "(.*)"', Path(str(origin)).with_name("_version.py").read_text(encoding="utf-8"))
    return found[1] if found else "of unknown version"


@functools.cache
def _warn(version: str) -> None:
    warnings.warn(
        f"numba {version} is not known to Warpreg ({KNOWN}x is): compiling takes longer, and compiled code is not kept",
        CompilerWarning,
        stacklevel=5,
    )
