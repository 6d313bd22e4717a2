"""Names of C++ functions: what a mangled name of PTX is in the source, and the forms in which a user may give it."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

LIBRARY = "libstdc++.so.6"
"""The C++ library, which llvmlite needs too."""


@functools.cache
def demangled(name: str) -> str:
    """The C++ name with its parameters, ``ns::fill<float>(float*, float)``, without the return type; any other name
    unchanged."""
    demangle = _demangler()
    if not name.startswith("_Z") or demangle is None:
        return name
    status = ctypes.c_int()
    address = demangle(name.encode(), None, None, ctypes.byref(status))
    if not address:
        return name
    text = ctypes.string_at(address).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return text.removeprefix("void ")


@functools.cache
def short_name(name: str) -> str:
    """The C++ name without parameters, ``ns::fill<float>``; any other name unchanged."""
    text = demangled(name)
    if text == name or not text.endswith(")"):
        return text
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[:place]
    return text


@functools.cache
def forms(name: str) -> frozenset[str]:
    """The forms in which a user may give a kernel: as in PTX, with parameters, without them, without template
    arguments, without namespaces."""
    short = short_name(name)
    bare = _without_arguments(short)
    last = bare.rpartition("::")[2]
    known = {name, demangled(name), short, bare, last, last + short[len(bare) :]}
    return frozenset(normal(one) for one in known)


def normal(name: str) -> str:
    """A name with spaces only between words, and integers without suffix."""
    text = re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(name.split()))
    return re.sub(r"\b(\d+)(?:ull|ul|ll|u|l)\b", r"\1", text, flags=re.IGNORECASE)


def _without_arguments(short: str) -> str:
    if not short.endswith(">"):
        return short
    depth = 0
    for place in range(len(short) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(short[place], 0)
        if depth == 0:
            return short[:place]
    return short


@functools.cache
def _demangler() -> Any:
    """The function of the C++ library, None without it."""
    try:
        function = ctypes.CDLL(LIBRARY)["__cxa_demangle"]
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return function
