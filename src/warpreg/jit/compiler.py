"""Choice of the compiler: the fast one if the numba version is supported, else plain numba."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from warpreg.jit.natives import Function
from warpreg.jit.options import OPTIONS

KNOWN = "0.68."
"""The versions of numba that `warpreg.jit.numba_internals` supports; pyproject.toml requires one of them."""


class CompilerWarning(RuntimeWarning):
    """Compilation is slower than with the pinned version of numba."""


class Compiler(Protocol):
    """Compiles functions to machine code; ``checked`` adds bounds checks of arrays."""

    def inlined(self, checked: bool) -> Callable[[Function], Any]:
        """A decorator for functions that compiled functions call."""

    def outermost(self, function: Function, signature: tuple[Any, ...], checked: bool) -> Any:
        """The dispatcher of a function called from Python, compiled for arguments of these numba types."""

    def selecting(self) -> AbstractContextManager[None]:
        """In this context, compilation prefers conditional moves to branches."""

    def dumped(self, dispatcher: Any, classes: Sequence[type]) -> bytes | None:
        """The machine code of a dispatcher as bytes, None if it cannot be stored.

        ``classes`` are those of named tuples among the arguments; each is stored as its position.
        """

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        """The dispatcher of a function from `dumped` code."""


class PlainCompiler:
    """numba's own ``njit`` through its documented interface; machine code is not stored."""

    def inlined(self, checked: bool) -> Callable[[Function], Any]:
        import numba

        njit: Any = numba.njit
        return cast("Callable[[Function], Any]", njit(**OPTIONS, boundscheck=checked))

    def outermost(self, function: Function, signature: tuple[Any, ...], checked: bool) -> Any:
        import numba

        njit: Any = numba.njit
        return njit(signature, **OPTIONS, boundscheck=checked)(function)

    def selecting(self) -> AbstractContextManager[None]:
        import contextlib

        return contextlib.nullcontext()

    def dumped(self, dispatcher: Any, classes: Sequence[type]) -> bytes | None:
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
