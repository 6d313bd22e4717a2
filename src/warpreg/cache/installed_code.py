"""Compiled code that is installed beside the package, in the layout of the cache: a first command does not compile it.

``warpreg warm`` compiles it, and the optional package ``warpreg-compiled`` brings it.  It is read where the user's
cache has no entry, under the same keys: code of other sources, versions or processors is never found.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path

import warpreg
from warpreg.cache import store
from warpreg.cache.trust import is_as_safe_as

PACKAGE = "warpreg_compiled"
VARIABLE = "WARPREG_COMPILED"
"""Environment variable that names another folder; empty for none."""
KINDS = ("cores", "objects", "pieces", "types", "units")
"""The kinds of entries that are compiled code."""


def own_folder() -> Path:
    """Where this installation keeps compiled code; may not exist yet."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path(sysconfig.get_path("purelib")) / PACKAGE


def read(kind: str, key: str) -> bytes | None:
    """The content of an entry; None if it is missing, damaged, or if users can have written it who cannot write the
    package itself.
    """
    if kind not in KINDS:
        return None
    package = Path(warpreg.__file__)
    for folder in folders():
        path = folder / kind / key
        with contextlib.suppress(OSError):
            if is_as_safe_as(path, package) and is_as_safe_as(path.parent, package):
                content = store.content_of(path)
                if content is not None:
                    return content
    return None


def folders() -> tuple[Path, ...]:
    """The folders with compiled code."""
    chosen = os.environ.get(VARIABLE)
    return _found() if chosen is None else (Path(chosen),) if chosen else ()


@functools.cache
def _found() -> tuple[Path, ...]:
    spec = PathFinder.find_spec(PACKAGE)
    return () if spec is None else tuple(map(Path, spec.submodule_search_locations or ()))
