"""Disk cache of machine code: one entry per key, named after its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpreg.cache import store
from warpreg.cache.lock import held
from warpreg.jit.collector_pause import collector_paused
from warpreg.jit.compiler import Compiler
from warpreg.jit.natives import Function

KIND = "cores"


def kept(compiler: Compiler, function: Function, digest: str, classes: Sequence[type], build: Callable[[], Any]) -> Any:
    """The dispatcher of ``function`` from the cache, or else ``build()``, which is then stored.  Of several processes
    that need it at once, one builds it.

    The key is the function's name and the ``digest`` of all its dependencies.  ``classes`` as in `Compiler.loaded`.
    """
    key = f"{function.__name__}-{digest[:40]}"
    with collector_paused():
        code = store.read(KIND, key)
        if code is not None:
            return compiler.loaded(function, code, classes)
        with held(key):
            code = store.read(KIND, key)  # of the process that held the lock before
            if code is not None:
                return compiler.loaded(function, code, classes)
            built = build()
            code = compiler.dumped(built)
            if code is not None:
                store.write(KIND, key, code)
        return built
