"""``warpreg bench traces``: speed of reading recorded traces, on one core.

Runs of a few workloads are exported as traces, and these are read: text, steps, path, addresses and kernel.  The
figure is megabytes of text per processor second over all of them, the median of five, without compiling the reader.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpreg import simt
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.evaluation.runs.traces import export_run
from warpreg.sass.reader import read_recording
from warpreg_workbench.bench.host import host

WORKLOADS = ("vector-add", "matrix-mul", "bfs", "histogram", "hotspot")
REPEATS = 5
RECORD = simt.Record(path=True, addresses=True)

Begin = Callable[[str], None]


def traces(begin: Begin = lambda description: None) -> dict[str, Any]:
    """``traceg_mb_s``, MB of trace text per processor second; ``begin`` is called with the current step."""
    with tempfile.TemporaryDirectory() as folder:
        lists = []
        for name in WORKLOADS:
            begin(f"exporting {name}")
            lists.append(export_run(run_workload(find_workload(name), "tiny", record=RECORD), Path(folder) / name))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.traceg"))
        begin("reading traces")
        read_recording(lists[0])
        seconds = statistics.median(_seconds(lists) for _ in range(REPEATS))
    return {"traceg_mb_s": size / seconds / 1e6, "traceg_bytes": size, "workloads": list(WORKLOADS), "machine": host()}


def _seconds(lists: list[Path]) -> float:
    started = time.process_time()
    for listed in lists:
        read_recording(listed)
    return time.process_time() - started
