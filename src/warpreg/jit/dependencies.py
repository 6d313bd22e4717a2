"""What a set of hooks reaches: the functions they call, the values they read, the files they stand in.

Two uses.  A fingerprint of all of it is part of the compiled core's key, because numba's own cache looks at the jitted
function's file only. And the functions are rebuilt with everything they call compiled, so that authors call plain
functions without decorating them.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

LIBRARIES = frozenset({*sys.stdlib_module_names, "numpy", "numba", "llvmlite"})
"""Top-level packages whose sources are not followed; their versions are in the key instead."""


class Reach:
    """Walks functions and what they reach, each once; ``update`` adds to a fingerprint."""

    def __init__(self, replaced: Mapping[FunctionType, Any] = MappingProxyType({})) -> None:
        self._replaced = replaced
        self._hash = hashlib.sha256()
        self._seen: set[int] = set()
        self._files: set[str] = set()

    @property
    def digest(self) -> str:
        """Fingerprint of everything added so far, in the order added."""
        return self._hash.hexdigest()

    def text(self, label: str, text: str) -> None:
        """Add a text under a label."""
        self._hash.update(f"{label}\0{len(text)}\0{text}".encode())

    def function(self, function: FunctionType) -> None:
        """Add a function: its code, its module's file, and every global that it names; or what replaces it."""
        function = python_function(self._replaced.get(function)) or function
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self.text("module", function.__module__)
        self._file(function.__module__)
        self._hash.update(_placeless_bytes(function.__code__))
        self._hash.update(repr((function.__defaults__, function.__kwdefaults__)).encode())
        for name, value in _named_values(function):
            self._value(name, value, _names(function.__code__))
        for cell in function.__closure__ or ():
            self._value("closure", cell.cell_contents, ())

    def _value(self, name: str, value: Any, attributes: tuple[str, ...]) -> None:
        inner = python_function(value)
        if inner is not None:
            if not is_library(inner.__module__):
                self.function(inner)
        elif isinstance(value, ModuleType):
            self._module(value, attributes)
        elif isinstance(value, type):
            self._file(value.__module__)
            self.text(name, f"{value.__qualname__}{getattr(value, '_fields', '')}")
        elif isinstance(value, np.ndarray):
            self.text(name, f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}")
        else:
            self.text(name, repr(value))

    def _module(self, module: ModuleType, attributes: tuple[str, ...]) -> None:
        if is_library(module.__name__):
            return
        self._file(module.__name__)
        for attribute in attributes:
            if hasattr(module, attribute):
                self._value(attribute, getattr(module, attribute), attributes)

    def _file(self, module_name: str) -> None:
        path = getattr(sys.modules.get(module_name), "__file__", None)
        if path is None or path in self._files or is_library(module_name):
            return
        self._files.add(path)
        if path.endswith(".py"):
            self.text("file", _text_hash(path))


def rebuild(
    functions: Mapping[str, FunctionType],
    compiled: Callable[[FunctionType], Any],
    replaced: Mapping[FunctionType, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """``compiled`` of each function, with every plain function that they reach replaced by ``compiled`` of that one.

    ``replaced`` gives what takes the place of some functions first: another plain function, or something compiled.
    """
    rebuilder = _Rebuilder(compiled, replaced)
    return {name: rebuilder.function(function) for name, function in functions.items()}


class _Rebuilder:
    def __init__(self, compiled: Callable[[FunctionType], Any], replaced: Mapping[FunctionType, Any]) -> None:
        self._compiled = compiled
        self._replaced = replaced
        self._done: dict[int, Any] = {}

    def function(self, function: FunctionType) -> Any:
        if function in self._replaced:
            instead = self._replaced[function]
            return self.function(instead) if isinstance(instead, FunctionType) else instead
        if id(function) in self._done:
            return self._done[id(function)]
        names = dict(function.__globals__)
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__module__ = function.__module__
        vars(copy).update(vars(function))
        self._done[id(function)] = result = self._compiled(copy)
        attributes = _names(function.__code__)
        names.update((name, self._value(value, attributes)) for name, value in _named_values(function))
        return result

    def _value(self, value: Any, attributes: tuple[str, ...]) -> Any:
        if isinstance(value, FunctionType) and not is_library(value.__module__):
            return self.function(value)
        if isinstance(value, ModuleType) and not is_library(value.__name__):
            stand_in = ModuleType(value.__name__)
            found = [(name, getattr(value, name)) for name in attributes if hasattr(value, name)]
            vars(stand_in).update((name, self._value(inner, attributes)) for name, inner in found)
            return stand_in
        return value


def python_function(value: Any) -> FunctionType | None:
    """The Python function behind a function or a numba dispatcher, None for anything else."""
    inner = getattr(value, "py_func", value)
    return inner if isinstance(inner, FunctionType) else None


def is_library(module_name: str) -> bool:
    """Whether a module's source is left to its version."""
    return module_name.partition(".")[0] in LIBRARIES


def _named_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


@functools.lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[str, ...]:
    """Global and attribute names in a function's code, nested functions included, sorted."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_names(constant))
    return tuple(sorted(names))


@functools.lru_cache(maxsize=4096)
def _placeless_bytes(code: CodeType) -> bytes:
    """What tells the code from other code."""
    return marshal.dumps(_placeless(code))


def _placeless(code: CodeType) -> CodeType:
    """The code without the file it stands in."""
    constants = tuple(_placeless(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="", co_consts=constants)


def _text_hash(path: str) -> str:
    """Fingerprint of a file as it is now, empty without one."""
    try:
        about = Path(path).stat()
    except OSError:
        return ""
    return _hash_of(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4096)
def _hash_of(path: str, changed_ns: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
