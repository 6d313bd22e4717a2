"""``warpreg bench checks``: what checked hooks cost, with the package's designs run as if they were foreign.

Processor time of a run with checks over one without, best of `REPEATS` after compiling: replays as in ``warpreg bench
replay``, and timing runs on a machine with a two-level scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpreg import gpu, simt, timing
from warpreg.designs import Design, load
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.replay.replay import replay_launches
from warpreg.trace.schedule import RecordOrder
from warpreg_workbench.bench.replay import DESIGNS, MACHINE, VALUES
from warpreg_workbench.bench.timing import sample

WORKLOADS = ("2dconv", "backprop", "spmv")
TIMED = ("spmv",)
REPEATS = 3

Begin = Callable[[str], None]


def checks(
    size: str = "small",
    begin: Begin = lambda what: None,
    designs: Mapping[str, RecordOrder | None] = DESIGNS,
    workloads: Sequence[str] = WORKLOADS,
    timed: Sequence[str] = TIMED,
) -> dict[str, Any]:
    """Geometric mean and largest ratio in replay and in time, and a row per workload and design."""
    rows: list[dict[str, Any]] = []
    for workload in workloads:
        begin(f"running {workload}")
        run = run_workload(find_workload(workload), size, record=simt.Record(path=True, addresses=True, widths=True))
        for design, order in designs.items():
            begin(f"replaying {workload} with {design}")
            ratio = _replay(run, design, order)
            rows.append({"way": "replay", "workload": workload, "design": design, "ratio": ratio})
            if workload in timed:
                begin(f"timing {workload} with {design}")
                rows.append({"way": "time", "workload": workload, "design": design, "ratio": _time(run, design)})
    found = {way: [row["ratio"] for row in rows if row["way"] == way] for way in ("replay", "time")}
    return {
        "checked_ratio_geomean": {way: geometric_mean(ratios) for way, ratios in found.items() if ratios},
        "checked_ratio_max": {way: max(ratios) for way, ratios in found.items() if ratios},
        "code": code_version(),
        "runs": rows,
    }


def _replay(run: Run, design: str, order: RecordOrder | None) -> float:
    kernel = run.kernels[0]
    launches = run.launches_of(kernel)
    paths = [(one.trace, timing.recorded_schedule(one, MACHINE, order=order)[1] if order else None) for one in launches]
    known = [(path, schedule) for path, schedule in paths if path is not None]
    return _ratio(design, lambda chosen: replay_launches(known, kernel, chosen, **VALUES.get(design, {})))


def _time(run: Run, design: str) -> float:
    launches, window = run.launches_of(run.kernels[0]), sample(run)
    has_banks = any(parameter.name == "banks" for parameter in load(design).parameters)
    banks = {"banks": gpu.load(MACHINE).register_file.banks} if has_banks else {}
    values = {**VALUES.get(design, {}), **banks}
    return _ratio(design, lambda chosen: timing.simulate(launches, MACHINE, designs=[chosen], window=window, **values))


def _ratio(design: str, work: Callable[[Design], object]) -> float:
    """Time with checks over time without."""
    plain, checked = (_seconds(work, load(design, checked=one)) for one in (False, True))
    return checked / plain


def _seconds(work: Callable[[Design], object], design: Design) -> float:
    work(design)
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        work(design)
        seconds.append(time.process_time() - begin)
    return min(seconds)
