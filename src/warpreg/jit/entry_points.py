"""The function that a compiled core is entered by: built, or loaded from what numba left beside its file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from warpreg.jit.collector_pause import collector_paused
from warpreg.jit.core_cache import stored

Entry = Callable[..., Any]


def entry(
    name: str, text: str, digest: str, signature: tuple[Any, ...], build: Callable[[ModuleType], Entry], kind: str
) -> Entry:
    """The function ``name`` of ``text``, compiled for arguments of these numba types, from the disk cache where it is
    there.  ``build`` compiles it in the module that it is given, with numba's cache; ``kind`` is part of that module's
    name.
    """
    within = f"warpreg_{kind}_{digest[:32]}"
    with collector_paused():
        return stored(
            digest, text, lambda file: build(_module(within, file)), partial(_loaded, within, name, signature)
        )


def _module(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _loaded(module: str, name: str, signature: tuple[Any, ...], file: Path) -> Entry | None:
    """What numba has on disk, None if that is not of this file as it is.

    numba itself would first import and register all that it can compile, SciPy's linear algebra included, which takes a
    third of a second.
    """
    import numba

    njit: Any = numba.njit
    dispatcher = njit(cache=True)(getattr(_module(module, file), name))
    found = dispatcher._cache._load_overload(signature, dispatcher.targetctx)
    if found is None:
        return None
    dispatcher.add_overload(found)
    dispatcher.disable_compile()
    loaded: Entry = dispatcher
    return loaded
