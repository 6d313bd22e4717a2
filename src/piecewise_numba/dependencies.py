"""Fingerprint of a function: its code, and all functions and values that it reaches.

It is the key of compiled code on disk.  numba's own cache checks only the file of the compiled function, so it returns
stale code after a change of a constant or function in another file.  Here, an edit changes exactly the fingerprints
that depend on it.  Files, line numbers, docstrings and annotations are ignored.

A function can use only the globals, and the attributes of modules, whose names are in its code; `rebuild` provides no
others.  A value that cannot be inspected, such as an instance of a class, is represented by the files of its class and
of the module that names it.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from piecewise_numba.namespaces import is_namespace
from piecewise_numba.natives import Function, native_of

LIBRARIES = frozenset({*sys.stdlib_module_names, "numpy", "numba", "llvmlite"})
"""Top-level packages that are represented by their versions instead of their sources."""

NOTHING_REPLACED: Mapping[Function, Function] = MappingProxyType({})
HAS_DOCSTRING = 0x4000000
"""Flag of code objects from Python 3.13 on."""
PLAIN_VALUES = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


class Fingerprint:
    """Visits functions and what they reach, each once.

    ``replaced`` maps functions to their replacements in compiled code.
    """

    def __init__(self, replaced: Mapping[Function, Function] = NOTHING_REPLACED) -> None:
        self._replaced = replaced
        self._hash = hashlib.sha256()
        self._seen: dict[Function, int] = {}
        self._files: set[str] = set()

    @property
    def digest(self) -> str:
        """The fingerprint of everything added so far, in the order added."""
        return self._hash.hexdigest()

    def text(self, label: str, text: str) -> None:
        """Add a text under a label."""
        self._hash.update(f"{label}\0{len(text)}\0{text}\0".encode())

    def function(self, function: Function, label: str = "function") -> None:
        """Add a function, or its replacement."""
        while function in self._replaced:
            function = self._replaced[function]
        is_known = function in self._seen
        self.text(label, f"function {self._seen.setdefault(function, len(self._seen))}")
        if is_known:
            return
        self.visit(function)

    def visit(self, function: Function) -> None:
        """Add what a function consists of, and what it reaches."""
        make = native_of(function)
        if make is not None:
            self.value("native", make, function.__module__)
            self.file(getattr(make, "func", make).__module__)
            return
        self.text("module", self.module_of(function))
        self.text("marks", repr(sorted(name for name in vars(function) if not name.startswith("__"))))
        self._hash.update(_code_bytes(function.__code__))
        self.value("defaults", (function.__defaults__, function.__kwdefaults__), function.__module__)
        names = names_in(function.__code__)
        for name, value in named_values(function):
            self.value(name, value, function.__module__, names)

    def module_of(self, function: Function) -> str:
        """What counts of the module of a function."""
        return function.__module__

    def value(self, label: str, value: Any, within: str, names: tuple[str, ...] = ()) -> None:
        """Add a value that the module ``within`` names; of a module or a
        namespace, only attributes with these ``names``.
        """
        if isinstance(value, FunctionType):
            self._function_value(label, value)
        elif isinstance(value, ModuleType):
            self._module(label, value, names)
        elif is_namespace(value):
            self._namespace(label, value, names)
        elif isinstance(value, type):
            self._class(label, value)
        elif isinstance(value, enum.Enum):
            self._class(label, type(value))
            self.text(label, f"{value.name} {value.value!r}")
        elif isinstance(value, PLAIN_VALUES):
            self.text(label, f"{type(value).__qualname__} {value!r}")
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.text(label, f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}")
        elif isinstance(value, (tuple, list)):
            self._class(label, type(value))
            self.text(label, str(len(value)))
            for element in value:
                self.value("element", element, within)
        elif isinstance(value, dict):
            self.text(label, f"dict {len(value)}")
            for key, element in value.items():
                self.value("key", key, within)
                self.value("value", element, within)
        elif isinstance(value, functools.partial):
            self.value(label, (value.func, value.args, value.keywords), within)
        else:
            self._other(label, value, within)

    def file(self, module_name: str) -> None:
        """Add the text of the file of a module, unless it belongs to a library."""
        path = getattr(sys.modules.get(module_name), "__file__", None)
        if path is None or path in self._files or is_library(module_name):
            return
        self._files.add(path)
        self.text("file", _text_hash(path))

    def _function_value(self, label: str, function: FunctionType) -> None:
        if is_library(function.__module__):
            self.text(label, f"{function.__module__}.{function.__qualname__}")
        else:
            self.function(function, label)

    def _module(self, label: str, module: ModuleType, names: tuple[str, ...]) -> None:
        self.text(label, f"module {module.__name__}")
        if is_library(module.__name__):
            return
        for name in names:
            if hasattr(module, name):
                self.value(name, getattr(module, name), module.__name__, names)

    def _namespace(self, label: str, space: type, names: tuple[str, ...]) -> None:
        self.text(label, f"namespace {space.__module__}.{space.__qualname__}")
        for name in names:
            if hasattr(space, name):
                self.value(name, getattr(space, name), space.__module__, names)

    def _class(self, label: str, kind: type) -> None:
        self.text(label, f"class {kind.__module__}.{kind.__qualname__}")
        if is_library(kind.__module__):
            return
        if issubclass(kind, enum.Enum):
            self.text(label, repr([(name, member.value) for name, member in kind.__members__.items()]))
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.value(label, (kind._fields, getattr(kind, "_field_defaults", {})), kind.__module__)
        else:
            for base in kind.__mro__:
                self.file(base.__module__)

    def _other(self, label: str, value: Any, within: str) -> None:
        """Add a value that cannot be inspected; of wrappers of numba or ``functools``, also the inner function."""
        inner = getattr(value, "py_func", None) or getattr(value, "_defn", None) or inspect.unwrap(value)
        self._class(label, type(value))
        self.file(within)
        self.file(str(getattr(value, "__module__", "")))
        self.text(label, repr(getattr(value, "targetoptions", "")))
        if isinstance(inner, FunctionType):
            self.file(inner.__module__)
            self._function_value(label, inner)


def is_library(module_name: str) -> bool:
    """Whether a module is represented by its library's version."""
    return module_name.partition(".")[0] in LIBRARIES


def named_values(function: Function) -> Iterator[tuple[str, Any]]:
    """The globals and closure variables that a function names, with their values."""
    for name in names_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


@functools.lru_cache(maxsize=4096)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Global and attribute names in a function's code, including nested functions, sorted."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(names_in(constant))
    return tuple(sorted(names))


@functools.lru_cache(maxsize=4096)
def _code_bytes(code: CodeType) -> bytes:
    """The identity of code, without its location and docstring."""
    names = code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    constants = [_code_bytes(one).hex() if isinstance(one, CodeType) else _spelled(one) for one in _constants(code)]
    parts = (names, counts, code.co_code.hex(), code.co_exceptiontable.hex(), constants)
    return hashlib.sha256(repr(parts).encode()).digest()


def _constants(code: CodeType) -> tuple[Any, ...]:
    """The constants without the docstring, which is the first one; before Python 3.14, no other string is."""
    constants = code.co_consts
    may_have = code.co_flags & HAS_DOCSTRING if sys.version_info >= (3, 14) else not code.co_name.startswith("<")
    return ("", *constants[1:]) if constants and may_have and isinstance(constants[0], str) else constants


def _spelled(constant: Any) -> str:
    """A constant as text that is equal in every process, although the order of sets differs."""
    if isinstance(constant, frozenset):
        return f"frozenset {sorted(map(_spelled, constant))}"
    if isinstance(constant, tuple):
        return f"tuple {list(map(_spelled, constant))}"
    return f"{type(constant).__name__} {constant!r}"


def _text_hash(path: str) -> str:
    """Fingerprint of the current contents of a file, empty if there is no file."""
    try:
        about = Path(path).stat()
    except OSError:
        return ""
    return _hash_of(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4096)
def _hash_of(path: str, changed_ns: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
