"""``warpreg bench edit``: what a user waits for after an edit of a design.

Processor time, child processes included, of whole commands on a tiny workload, less that of the same command with
everything compiled:

- first core: the first timing run of the plain register file, with an empty cache;
- designed core: then the first one under a design file, with checks;
- edited core: then the first one after an edit of two functions of that file;
- first and edited replay: the same of a comparison, where the first one is that under the design file.

Python's own byte code is in place.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.provenance import code_version
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.processes import processor_seconds, python

DESIGN = "edited-cache"
FILE = "edited_cache.py"
TIMING = ("-m", "warpreg", "run", "vector-add", "--size", "tiny", "--cycles", "--json")
REPLAY = ("-m", "warpreg", "compare", "vector-add", "--size", "tiny", "--json", "-j", "1", "--designs")
EDITS = (
    ("return state.entries > 0 and", "return state.entries > 1 and"),
    ("w.count(plan, EVICTIONS)", "w.count(plan, EVICTIONS, 2)"),
)
"""Changes of two functions of the file of ``warpreg new-design``."""
BYTE_CODE = "bytecode"

Begin = Callable[[str], None]


def edit(begin: Begin = lambda what: None) -> dict[str, Any]:
    """All figures by name; ``begin`` is called with the next measurement."""
    with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as folder:
        cache, file = Path(folder) / "cache", Path(folder) / FILE
        python(("-m", "warpreg", "new-design", DESIGN, "--output", folder), str(cache))
        begin("compiling byte code")
        for command in (TIMING, (*TIMING, "--design", str(file)), (*REPLAY, str(file))):
            python(command, str(cache))
        forget(cache)
        begin("timing under an edited design")
        first, designed, edited = _core_seconds(file, cache)
        forget(cache)
        begin("replaying an edited design")
        replayed, replayed_again = _replay_seconds(file, cache)
    return {
        "first_core_s": first,
        "designed_core_ratio": designed / first,
        "edited_core_ratio": edited / first,
        "first_replay_s": replayed,
        "edited_replay_ratio": replayed_again / replayed,
        "machine": host() | {"code": code_version()},
    }


def _core_seconds(file: Path, cache: Path) -> tuple[float, float, float]:
    """Of the first core, of that of a design, and of that of the design after an edit."""
    first = _compiling(TIMING, cache)
    command = (*TIMING, "--design", str(file))
    designed = _compiling(command, cache)
    with _edited(file):
        return first, designed, _compiling(command, cache)


def _replay_seconds(file: Path, cache: Path) -> tuple[float, float]:
    """Of the first replay of a design, and of that after an edit."""
    command = (*REPLAY, str(file))
    first = _compiling(command, cache)
    with _edited(file):
        return first, _compiling(command, cache)


def _compiling(command: tuple[str, ...], cache: Path) -> float:
    """Processor seconds of a command less those of the same one after it."""
    cold = processor_seconds(command, str(cache))
    return cold - min(processor_seconds(command, str(cache)) for _ in range(2))


@contextmanager
def _edited(file: Path) -> Iterator[None]:
    """In this context, the file of a design has the edits."""
    before = after = file.read_text(encoding="utf-8")
    for old, new in EDITS:
        if after.count(old) != 1:
            raise ValueError(f"{file}: '{old}' is there {after.count(old)} times, expected once")
        after = after.replace(old, new)
    file.write_text(after, encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")


def forget(cache: Path) -> None:
    """Delete everything in a cache but the byte code."""
    for kind in cache.iterdir():
        if kind.is_dir() and kind.name != BYTE_CODE:
            shutil.rmtree(kind)
