"""Findings of measures kept on disk, so that a study that was cut short goes on where it was.

A finding is known by what was asked (measure, workload, size, compiler's choice) and by the sources of all that may
have had a part in it.  It is written aside and renamed into place.  ``<cache>/findings/<digest>.pickle``; deleting them
costs only time.  What names a file of the user's, a design, a machine or a workload, is not kept: that file is not in
the digest.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

import warpreg
from warpreg.experiments.runs.run import CompileChoice
from warpreg.jit.cache_directory import cache_directory

ROOT = Path(warpreg.__file__).parent
EXPERIMENTS = "experiments"
WITHOUT_PART = (EXPERIMENTS, "report", "cli")
"""Packages that no run depends on; of the experiments, what a measure's module names is looked at."""
SOURCES = (".py", ".toml", ".ptx", ".cu", ".csv", ".json")
FILES = (".py'", ".toml'")
"""How the name of a file ends in the text of what was asked."""


class Keyed(Protocol):
    """A frozen dataclass: its text tells all of it."""


def place(measure: Keyed, workload: str, size: str, choice: CompileChoice) -> Path | None:
    """The file of a finding, there or not; None for one that is not kept."""
    asked = repr((measure, workload, size, choice))
    if any(ending in asked for ending in FILES):
        return None
    digest = hashlib.sha256(f"{asked}\0{_package()}\0{_measure(type(measure).__module__)}".encode()).hexdigest()
    return cache_directory() / "findings" / f"{digest}.pickle"


def kept(file: Path) -> tuple[Any] | None:
    """The finding in a tuple; None where there is none, or one that cannot be read."""
    try:
        found = pickle.loads(file.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return None
    return found if isinstance(found, tuple) and len(found) == 1 else None


def keep(file: Path, finding: Any) -> None:
    """Keep a finding; a disk that does not take it is no error."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix="new-", delete=False) as aside:
            pickle.dump((finding,), aside)
        Path(aside.name).replace(file)
    except OSError:
        return


@cache
def _package() -> str:
    """Of all sources that a run depends on, and of Python and numpy."""
    digest = hashlib.sha256(f"{sys.version}\0{np.__version__}".encode())
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        if path.suffix in SOURCES and inside.parts[0] not in WITHOUT_PART:
            digest.update(f"{inside.as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _measure(module: str) -> str:
    """Of the modules of experiments that a measure's module takes names from, and those that they do."""
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
