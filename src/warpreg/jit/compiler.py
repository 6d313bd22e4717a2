"""Choice of the compiler: the fast one if the numba version is supported, else plain numba."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from warpreg.jit.call_graph import CallGraph
from warpreg.jit.natives import Function
from warpreg.jit.options import OPTIONS

KNOWN = "0.68."
"""The versions of numba that `warpreg.jit.numba_internals` supports; pyproject.toml requires one of them."""


class CompilerWarning(RuntimeWarning):
    """Compilation is slower than with the pinned version of numba."""


class Compilation(Protocol):
    """Compiles one entry point and what it calls."""

    def inlined(self, function: Function) -> Any:
        """The dispatcher of a function that compiled functions call."""

    def outermost(
        self, function: Function, signature: tuple[Any, ...], classes: Sequence[type], told: Collection[Any]
    ) -> Any:
        """The dispatcher of a function called from Python, compiled for arguments of these numba types.

        ``classes`` as in `Compiler.loaded`.  The dispatchers ``told`` then have the signatures of their functions.
        """


class Compiler(Protocol):
    """Compiles functions to machine code."""

    def begin(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> Compilation:
        """A compilation of the functions of a graph; ``checked`` adds bounds checks of arrays.

        ``outside``: hooks that are out of line.  ``label``: 32 or more characters that no other recipe has.
        """

    def selecting(self) -> AbstractContextManager[None]:
        """In this context, compilation prefers conditional moves to branches."""

    def dumped(self, dispatcher: Any) -> bytes | None:
        """The machine code of a dispatcher as bytes, None if it cannot be stored."""

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        """The dispatcher of a function from `dumped` code.

        ``classes`` are those of named tuples among the arguments; each is stored as its position.
        """


class PlainCompilation:
    """numba's own ``njit`` through its documented interface."""

    def __init__(self, checked: bool) -> None:
        import numba

        njit: Any = numba.njit
        self._njit = functools.partial(njit, **OPTIONS, boundscheck=checked)

    def inlined(self, function: Function) -> Any:
        return self._njit()(function)

    def outermost(
        self, function: Function, signature: tuple[Any, ...], classes: Sequence[type], told: Collection[Any]
    ) -> Any:
        return self._njit(signature)(function)


class PlainCompiler:
    """numba's own ``njit``; machine code is not stored."""

    def begin(self, graph: CallGraph, checked: bool, outside: Collection[Function], label: str) -> PlainCompilation:
        return PlainCompilation(checked)

    def selecting(self) -> AbstractContextManager[None]:
        import contextlib

        return contextlib.nullcontext()

    def dumped(self, dispatcher: Any) -> bytes | None:
        return None

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        raise NotImplementedError("machine code of plain numba is not kept")


def compiler() -> Compiler:
    """The compiler for the installed version of numba."""
    import numba

    if not numba.__version__.startswith(KNOWN):
        _warn(numba.__version__)
        return PlainCompiler()
    from warpreg.jit.numba_internals import FastCompiler

    return FastCompiler()


@functools.cache
def _warn(version: str) -> None:
    warnings.warn(
        f"numba {version} is not known to Warpreg ({KNOWN}x is): compiling takes longer, and compiled code is not kept",
        CompilerWarning,
        stacklevel=5,
    )
