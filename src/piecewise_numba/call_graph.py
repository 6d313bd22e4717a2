"""Which functions an entry point reaches, each with a fingerprint of its own.

The fingerprint of `piecewise_numba.dependencies` covers a function with all that it calls.  The one here covers a
function without the functions that it calls, which are numbered, with their parameters; machine code of the function is
then also valid where another function takes the place of one of them and returns the same type.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, NamedTuple

from piecewise_numba.dependencies import Fingerprint
from piecewise_numba.natives import Function, native_of

PACKAGE = __name__.partition(".")[0]


class Node(NamedTuple):
    """A function: the fingerprint of its own code and of the values that it names, and the functions that it names."""

    key: str
    callees: tuple[Function, ...]


class CallGraph:
    """Functions with their replacements; ``settings``: what else machine code depends on."""

    def __init__(self, replaced: Mapping[Function, Function], settings: str) -> None:
        self._replaced = replaced
        self.settings = settings
        self._nodes: dict[Function, Node] = {}
        self._natives: dict[Function, str] = {}

    def resolved(self, function: Function) -> Function:
        """What takes the place of a function, or the function itself."""
        while function in self._replaced:
            function = self._replaced[function]
        return function

    def node(self, function: Function) -> Node:
        """A function, which is no longer replaced."""
        if function not in self._nodes:
            own = _Own(self, self._replaced)
            own.text("settings", self.settings)
            own.visit(function)
            self._nodes[function] = Node(own.digest, tuple(own.callees))
        return self._nodes[function]

    def native(self, function: Function) -> str:
        """The fingerprint of a function with an intrinsic."""
        if function not in self._natives:
            whole = Fingerprint(self._replaced)
            whole.function(function)
            self._natives[function] = whole.digest
        return self._natives[function]


class _Own(Fingerprint):
    """Visits one function; of those that it names, only which of them are the same is known."""

    def __init__(self, graph: CallGraph, replaced: Mapping[Function, Function]) -> None:
        super().__init__(replaced)
        self._graph = graph
        self.callees: list[Function] = []

    def function(self, function: Function, label: str = "function") -> None:
        function = self._graph.resolved(function)
        if native_of(function) is not None:
            self.text(label, self._graph.native(function))
            return
        if function not in self.callees:
            self.callees.append(function)
        self.text(label, f"callee {self.callees.index(function)}")
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.text("parameters", repr((names, code.co_argcount, code.co_flags & (CO_VARARGS | CO_VARKEYWORDS))))
        self.value("defaults", (function.__defaults__, function.__kwdefaults__), function.__module__)

    def module_of(self, function: Function) -> str:
        """The module of one of the package's functions; that of a file differs with each edit."""
        return function.__module__ if function.__module__.startswith(f"{PACKAGE}.") else ""

    def _other(self, label: str, value: Any, within: str) -> None:
        """A wrapper of a function is no function that is replaced: it counts with all that it reaches."""
        whole = Fingerprint(self._replaced)
        whole.value(label, value, within)
        self.text(label, whole.digest)


def key_of(node: Node, arguments: tuple[str, ...]) -> str:
    """The key of a function for arguments of these types."""
    return hashlib.sha256("\0".join((node.key, *arguments)).encode()).hexdigest()
