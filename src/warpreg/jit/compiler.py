"""Which compiler is used: the fast one for the version of numba that it is made for, else numba as it comes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from warpreg.jit.natives import Function
from warpreg.jit.options import OPTIONS

KNOWN = "0.68."
"""The versions of numba whose insides `warpreg.jit.numba_internals` knows; pyproject.toml asks for one of them."""


class CompilerWarning(RuntimeWarning):
    """Compiling takes longer than it could."""


class Compiler(Protocol):
    """What makes machine code of functions; ``checked`` keeps to the bounds of arrays."""

    def inlined(self, checked: bool) -> Callable[[Function], Any]:
        """A decorator for functions that compiled ones call."""

    def outermost(self, function: Function, signature: tuple[Any, ...], checked: bool) -> Any:
        """The dispatcher of a function that is called from Python, compiled for arguments of these numba types."""

    def selecting(self) -> AbstractContextManager[None]:
        """What is compiled meanwhile prefers conditional moves to branches."""

    def dumped(self, dispatcher: Any, classes: Sequence[type]) -> bytes | None:
        """The machine code of a dispatcher as bytes, None where it cannot be kept.

        ``classes`` are those of named tuples among the arguments; in place of each its position is written.
        """

    def loaded(self, function: Function, code: bytes, classes: Sequence[type]) -> Any:
        """The dispatcher of a function that was dumped."""


class PlainCompiler:
    """numba's own ``njit``, through nothing but its documented interface; machine code is not kept."""

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
