"""``warpreg bench first``: what a new user waits for, with an empty cache.

Processor time, child processes included, of whole commands on `hotspot` at size ``tiny``, in that of a process that
imports NumPy, measured beside each:

- first run: ``run``;
- first cycles: ``run --cycles --machine v100``;
- first comparison: ``compare --designs all -j 1``, also in seconds.

Each starts with an empty cache, once with the code that ``warpreg warm`` installs and once without; the first are
medians.  Python's own byte code is in place.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.provenance import code_version
from warpreg_workbench.bench.edit import forget
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.processes import processor_seconds, python
from warpreg_workbench.bench.start import UNIT

HOTSPOT = ("hotspot", "--size", "tiny", "--json")
COMMANDS = {
    "run": ("-m", "warpreg", "run", *HOTSPOT),
    "cycles": ("-m", "warpreg", "run", *HOTSPOT, "--cycles", "--machine", "v100"),
    "comparison": ("-m", "warpreg", "compare", *HOTSPOT, "--designs", "all", "-j", "1"),
}
WARM = ("-m", "warpreg", "warm", "-j", "1", "--output")
REPEATS = 3

Begin = Callable[[str], None]


def first(begin: Begin = lambda what: None) -> dict[str, Any]:
    """All figures by name; ``begin`` is called with the next measurement."""
    with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as folder:
        cache, installed = Path(folder) / "cache", Path(folder) / "installed"
        begin("compiling beforehand")
        warm_s = processor_seconds((*WARM, str(installed)), str(cache))
        for command in (UNIT, *COMMANDS.values()):
            python(command, str(cache), str(installed))
        figures: dict[str, Any] = {"warm_s": warm_s}
        for name, command in COMMANDS.items():
            begin(f"first {name}, compiled beforehand")
            found = [_first(command, cache, str(installed)) for _ in range(REPEATS)]
            figures |= _figures(f"first_{name}", found)
        for name, command in COMMANDS.items():
            begin(f"first {name}, nothing compiled")
            figures |= _figures(f"bare_{name}", [_first(command, cache, "")])
    return {**figures, "machine": host() | {"code": code_version()}}


def _first(command: Sequence[str], cache: Path, installed: str) -> tuple[float, float]:
    """Processor seconds of a command with an empty cache, and of importing NumPy."""
    forget(cache)
    return processor_seconds(command, str(cache), installed), processor_seconds(UNIT, str(cache))


def _figures(name: str, found: Sequence[tuple[float, float]]) -> dict[str, float]:
    return {
        f"{name}_s": statistics.median(seconds for seconds, _ in found),
        f"{name}_ratio": statistics.median(seconds / unit for seconds, unit in found),
    }
