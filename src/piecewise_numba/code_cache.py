"""Disk cache of machine code: one entry per key, named after its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from piecewise_numba import bounded
from piecewise_numba.collector_pause import collector_paused
from piecewise_numba.entry_points import EntryPoint, code_from
from piecewise_numba.natives import Function
from piecewise_numba.settings import storage

KIND = "cores"


def kept(function: Function, digest: str, others: Sequence[str], build: Callable[[], Any]) -> Any:
    """The entry point of ``function`` from the cache, or else ``build()``, which is then stored.  Of several processes
    that need it at once, one builds it.

    The key is the function's name and the ``digest`` of all its dependencies; ``others`` are digests of code that does
    as well, for processors that this one includes.
    """
    key, *found = (f"{function.__name__}-{one[:40]}" for one in (digest, *others))
    with collector_paused():
        entry = next(filter(None, map(_stored, (key, *found))), None)
        if entry is not None:
            return entry
        with storage().held(key):
            entry = _stored(key)  # by the process that held the lock before
            if entry is not None:
                return entry
            built = bounded.built(build)
            if isinstance(built, EntryPoint) and built.code is not None:
                storage().write(KIND, key, built.code.as_bytes())
        return built


def _stored(key: str) -> EntryPoint | None:
    code = storage().read(KIND, key)
    return None if code is None else EntryPoint.loaded(code_from(code))
