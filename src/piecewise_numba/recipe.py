"""Compilation of hot code: an entry function, replacements of functions that it reaches, and a key that covers all.

An entry point is a plain function.  Designs and machines replace functions that it reaches: hooks, ports, a memory
model, constants.  `build` compiles it, or loads it from disk if no dependency has changed.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.call_graph import CallGraph
from piecewise_numba.code_cache import kept
from piecewise_numba.compiler import compiler, numba_version
from piecewise_numba.dependencies import Fingerprint
from piecewise_numba.natives import Function
from piecewise_numba.noinline import is_noinline
from piecewise_numba.options import OPTIONS, Mode
from piecewise_numba.processor import Processor, chosen, included
from piecewise_numba.rebuild import as_it_is, rebuild, rebuilt_for_now
from piecewise_numba.type_keys import kind, spelled

Entry = Callable[..., Any]
Element = TypeVar("Element", bound=np.generic)
Compiled = Mapping[str, Any]
"""Dispatchers by name."""

_loaded: dict[Hashable, Entry] = {}
"""Entry points by the function objects of a recipe and the argument types."""
_by_digest: dict[Hashable, Entry] = {}
"""Entry points by fingerprint: a design that is loaded again has new function objects with equal code."""


class CompileError(Exception):
    """Compilation of a recipe failed: numba's ``error``, and the dispatchers of the hooks."""

    def __init__(self, error: Exception, hooks: Compiled) -> None:
        super().__init__(str(error))
        self.error = error
        self.hooks = hooks


def _anything(hooks: Compiled) -> None:
    """Default check: accept everything."""


@dataclass(frozen=True)
class Recipe:
    """Ingredients of hot code.

    ``entry`` is a plain function in the numba subset of Python that allocates nothing and is called with positional
    arguments.  ``replaced`` maps functions that it reaches to their replacements.  ``check`` receives the compiled
    ``hooks`` before anything is cached, and raises for a wrong one.  With ``selects``, conditional moves are preferred
    to branches.
    """

    entry: Function
    replaced: Mapping[Function, Function] = field(default_factory=dict)
    hooks: Mapping[str, Function] = field(default_factory=dict)
    check: Callable[[Compiled], None] = _anything
    mode: Mode = "compiled"
    selects: bool = False

    def build(self, arguments: tuple[Any, ...]) -> Entry:
        """The entry point for arguments of these types: arrays, numbers and named tuples of them.

        Raises CompileError if compilation fails.
        """
        if self.mode == "interpreted":
            return self.interpreted()
        key = self.entry, tuple(self.replaced.items()), self.mode, kind(arguments)
        if key not in _loaded:
            _loaded[key] = self._compiled(arguments)
        return _loaded[key]

    def interpreted(self) -> Entry:
        """The same functions as plain Python."""
        entry: Entry = rebuild({"entry": self.entry}, as_it_is, self.replaced, natives=False)["entry"]
        return entry

    def digest(self, arguments: tuple[Any, ...]) -> str:
        """The key of the machine code: all functions and values that it depends on, versions and processor included."""
        return _for(chosen(), self._content(arguments))

    def _content(self, arguments: tuple[Any, ...]) -> str:
        """The fingerprint of all that machine code depends on, but for the processor."""
        fingerprint = Fingerprint(self.replaced)
        fingerprint.text("settings", self._settings())
        fingerprint.text("arguments", repr([spelled(argument) for argument in arguments]))
        fingerprint.function(self.entry)
        return fingerprint.digest

    def _settings(self) -> str:
        return repr((*_surroundings(), OPTIONS, self.mode, self.selects))

    def _compiled(self, arguments: tuple[Any, ...]) -> Entry:
        content = self._content(arguments)
        key = content, kind(arguments)
        if key not in _by_digest:
            digest = _for(chosen(), content)
            others = [_for(other, content) for other in included()]
            _by_digest[key] = kept(self.entry, digest, others, functools.partial(self._build, digest, arguments))
        return _by_digest[key]

    def _build(self, digest: str, arguments: tuple[Any, ...]) -> Any:
        import numba
        from numba.core.errors import NumbaError

        typeof: Any = numba.typeof
        signature = tuple(typeof(argument) for argument in arguments)
        chosen = compiler()
        graph = CallGraph(self.replaced, self._settings())
        outside = {hook for hook in map(graph.resolved, self.hooks.values()) if is_noinline(hook)}
        compilation = chosen.begin(graph, self.mode == "checked", outside, digest)
        plain: list[Function] = []

        def lowered(function: Function) -> Any:
            plain.append(function)
            return compilation.inlined(function)

        with rebuilt_for_now({"entry": self.entry, **self.hooks}, lowered, self.replaced) as built:
            entry = plain[0]
            # Machine code of other processes is loaded beside that of this one, so names must be unique.
            entry.__qualname__ = f"{entry.__name__}_{digest[:32]}"
            hooks = {name: built[name] for name in self.hooks}
            try:
                with chosen.selecting() if self.selects else nullcontext():
                    compiled = compilation.outermost(entry, signature, hooks.values())
            except NumbaError as error:
                raise CompileError(error, hooks) from error
            self.check(hooks)
        return compiled


def compiled(function: Function, arguments: tuple[Any, ...]) -> Entry:
    """``function`` compiled for arguments of these types."""
    return Recipe(function).build(arguments)


def read_only(array: NDArray[Element]) -> NDArray[Element]:
    """A read-only view, so that compiled code has one type for writable and read-only arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


@functools.cache
def _surroundings() -> tuple[Any, ...]:
    """Versions, the kind of machine, and the text of this package, on which all machine code depends."""
    import llvmlite

    versions = numba_version(), llvmlite.__version__, np.__version__, *_python()
    files = sorted(Path(__file__).parent.glob("*.py"))
    return versions, hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _python() -> tuple[str, ...]:
    """What machine code depends on of this Python: byte code and the layout of objects, which no release of a version
    changes, and the system.
    """
    return str(sys.implementation.cache_tag), sys.abiflags, sys.platform, platform.machine()


def _for(processor: Processor, content: str) -> str:
    """The key of machine code for a processor."""
    return hashlib.sha256(f"{processor!r}\0{content}".encode()).hexdigest()
