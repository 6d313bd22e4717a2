"""Cache of findings on disk, so that an interrupted study continues.

The key of a finding covers the request (every field of the measure, workload, size, compiler options) and the sources
of all that it may depend on.  Deleting findings only costs time.  A request that names a user's file (a design, a
machine or a workload) is not cached, because that file is not in the key.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import importlib.util
import pickle
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from warpreg.cache import store
from warpreg.cache.identity import spelled
from warpreg.cache.sources import sources_digest
from warpreg.evaluation.runs.run import CompileChoice

KIND = "findings"
FOLLOWED = ("evaluation", "checks", "gpu_kit")
"""Packages of which a finding depends only on the modules that a measure's module imports."""
WITHOUT_PART = (*FOLLOWED, "report", "cli")
"""Packages that are not part of every run."""
FILES = (".py", ".toml")
"""In the text of a request, a sign of a file."""


class Keyed(Protocol):
    """A frozen dataclass of plain values, or of other such dataclasses."""


def key_of(measure: Keyed, workload: str, size: str, choice: CompileChoice) -> str | None:
    """The key of a finding, whether or not it is cached; None for one that is never cached."""
    request = spelled((measure, workload, size, choice))
    modules = sorted(set(_modules(measure)))
    if any(sign in request for sign in FILES) or any(_file(module) is None for module in modules):
        return None
    return store.key_of(request, sources_digest(WITHOUT_PART), *map(_sources, modules))


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


def _modules(measure: Any) -> Iterator[str]:
    """The modules of the classes of a measure and of what it contains."""
    if dataclasses.is_dataclass(measure):
        yield type(measure).__module__
        for field in dataclasses.fields(measure):
            yield from _modules(getattr(measure, field.name))
    elif isinstance(measure, tuple):
        for one in measure:
            yield from _modules(one)


@cache
def _sources(module: str) -> str:
    """Fingerprint of a module and of what `reached` finds from it."""
    files = {file for file in (_file(name) for name in reached(module)) if file is not None}
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def reached(module: str) -> frozenset[str]:
    """A module, and the modules of its own package and of those in `FOLLOWED` that it imports, directly or indirectly,
    also inside functions.
    """
    modules: set[str] = set()
    left = [module]
    while left:
        name = left.pop()
        if name not in modules:
            modules.add(name)
            left += _imported(name)
    return frozenset(modules)


@cache
def _imported(module: str) -> tuple[str, ...]:
    file = _file(module)
    tree = ast.parse(b"" if file is None else file.read_bytes())
    own = module.partition(".")[0]
    packages = (*(f"warpreg.{name}." for name in FOLLOWED), *([f"{own}."] if own != "warpreg" else []))
    return tuple(name for node in ast.walk(tree) for name in _names(node, packages) if _file(name) is not None)


def _names(node: ast.AST, packages: tuple[str, ...]) -> Iterator[str]:
    """What may be modules of some packages in a statement."""
    found = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        found = [node.module, *(f"{node.module}.{name}" for name in found)]
    return (name for name in found if name.startswith(packages))


@cache
def _file(module: str) -> Path | None:
    """The file of a module; None if it has none, or if the name is none of a module."""
    if module in sys.modules:
        known = getattr(sys.modules[module], "__file__", None)
        return None if known is None else Path(known)
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name inside a module
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)
