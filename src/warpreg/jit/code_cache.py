"""Machine code on disk: a file for each key, which names what is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpreg.jit import blob_cache
from warpreg.jit.cache_directory import cache_directory
from warpreg.jit.collector_pause import collector_paused
from warpreg.jit.compiler import Compiler
from warpreg.jit.natives import Function


def kept(compiler: Compiler, function: Function, digest: str, classes: Sequence[type], build: Callable[[], Any]) -> Any:
    """The dispatcher of ``function`` from the cache, or ``build()``, which is written there.

    It lies under the function's name and the ``digest`` of all that it depends on, in ``<cache>/cores``.  A damaged
    file is as none: machine code would not raise, it would crash. ``classes`` as for `Compiler.dumped`.
    """
    path = cache_directory() / "cores" / f"{function.__name__}-{digest[:40]}"
    with collector_paused():
        code = blob_cache.read(path)
        if code is not None:
            return compiler.loaded(function, code, classes)
        built = build()
        code = compiler.dumped(built, classes)
        if code is not None:
            blob_cache.write(path, code)
        return built
