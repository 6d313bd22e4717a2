"""Start-up: processor time of commands with warm caches, in that of a process that imports NumPy.

The commands take turns with the import.  All byte code and machine code is in place.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpreg import simt
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.evaluation.runs.traces import export_run
from warpreg_workbench.bench.processes import processor_seconds, python

REPEATS = 5
TRACED = "reduction"
"""The workload whose trace is timed: about 40,000 warp-instructions at size tiny."""
RECORD = simt.Record(path=True, addresses=True)
UNIT = ("-c", "import numpy")


def start_ratios() -> dict[str, float]:
    """``list_ratio``, ``run_ratio`` and ``trace_ratio``, medians."""
    with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as folder:
        trace = export_run(run_workload(find_workload(TRACED), "tiny", record=RECORD), Path(folder) / "trace")
        commands = {
            "list_ratio": ("-m", "warpreg", "list"),
            "run_ratio": ("-m", "warpreg", "run", "vector-add"),
            "trace_ratio": ("-m", "warpreg", "run", str(trace), "--cycles"),
        }
        return _ratios(commands, str(Path(folder) / "cache"))


def _ratios(commands: Mapping[str, Sequence[str]], cache: str) -> dict[str, float]:
    for command in (UNIT, *commands.values()):
        python(command, cache)
    ratios: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            ratios[name].append(processor_seconds(command, cache) / processor_seconds(UNIT, cache))
    return {name: statistics.median(found) for name, found in ratios.items()}
