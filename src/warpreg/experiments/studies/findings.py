"""Cache of findings on disk, so that an interrupted study continues.

The key of a finding covers the request (measure, workload, size, compiler options) and the sources of all that it may
depend on.  Deleting findings only costs time.  A request that names a user's file (a design, a machine or a workload)
is not cached, because that file is not in the key.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from warpreg.cache import store
from warpreg.cache.sources import sources_digest
from warpreg.experiments.runs.run import CompileChoice

KIND = "findings"
EXPERIMENTS = "experiments"
WITHOUT_PART = (EXPERIMENTS, "report", "cli")
"""Packages that no run depends on; of the experiments, only modules that a measure's module names are followed."""
FILES = (".py'", ".toml'")
"""Endings of file names in the text of a request."""


class Keyed(Protocol):
    """A frozen dataclass whose text identifies it completely."""


def key_of(measure: Keyed, workload: str, size: str, choice: CompileChoice) -> str | None:
    """The key of a finding, whether or not it is cached; None for one that is never cached."""
    request = repr((measure, workload, size, choice))
    if any(ending in request for ending in FILES):
        return None
    return store.key_of(request, sources_digest(WITHOUT_PART), _measure(type(measure).__module__))


def kept(key: str) -> tuple[Any] | None:
    """The finding in a tuple; None if it is missing or unreadable."""
    data = store.read(KIND, key)
    try:
        found = None if data is None else pickle.loads(data)
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return None
    return found if isinstance(found, tuple) and len(found) == 1 else None


def keep(key: str, finding: Any) -> None:
    """Store a finding; a disk error is ignored."""
    store.write(KIND, key, pickle.dumps((finding,)))


@cache
def _measure(module: str) -> str:
    """Fingerprint of the modules of experiments that a measure's module imports from, directly or indirectly."""
    files = sorted(str(one.__file__) for one in _reached(sys.modules[module], set()))
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def _reached(module: ModuleType, seen: set[str]) -> Iterator[ModuleType]:
    if module.__name__ in seen:
        return
    seen.add(module.__name__)
    yield module
    for value in vars(module).values():
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name.startswith(f"warpreg.{EXPERIMENTS}."):
            yield from _reached(sys.modules[name], seen)
