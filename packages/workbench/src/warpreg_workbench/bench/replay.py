"""``warpreg bench replay``: replay speed of the cache designs, in M register accesses per processor second.

Designs that depend on the order of warps follow the schedule of a timing run.  Each figure is the best of five, on one
core, from the recorded path on disk, without compile time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from warpreg import simt, timing
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts
from warpreg.replay.replay import replay_launches
from warpreg.trace import Schedule
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import RecordOrder

WORKLOADS = ("2dconv", "backprop", "spmv")
"""Workloads of two to four million warp-instructions each at size small."""

DESIGNS: Mapping[str, RecordOrder | None] = {
    "rfc": None, "rfc-lrf": None, "rsp": None, "rc": "scheduler", "rc-rsp": "scheduler", "packing": "sm", "corf": "sm",
}  # fmt: skip
"""Designs, and the order inside which each needs a schedule, if any."""

MACHINE = "gtx980-two-level"
VALUES: Mapping[str, Mapping[str, Any]] = {
    "packing": {"physical": 2048},
    "corf": {"physical": 2048, "encoding": "free"},
}
"""Parameters for the register file of the machine, and no instruction that its schedule lacks."""
REPEATS = 5

Begin = Callable[[str], None]
Launch = tuple[RecordedPath, Schedule | None]


@dataclass(frozen=True, slots=True)
class ReplaySpeed:
    """One workload: M accesses per second by design."""

    workload: str
    warp_instructions: int
    maccess_s: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        return {"workload": self.workload, "warp_instructions": self.warp_instructions, **self.maccess_s}


def replays(size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """The geometric mean of each design, and a row per workload; ``begin`` is called with the next measurement."""
    speeds = []
    for name in WORKLOADS:
        begin(f"replaying {name}")
        speeds.append(replay_speed(name, size))
    means = {design: geometric_mean(speed.maccess_s[design] for speed in speeds) for design in DESIGNS}
    return {"replay_maccess_s": means, "code": code_version(), "workloads": [speed.as_dict() for speed in speeds]}


def replay_speed(name: str, size: str) -> ReplaySpeed:
    """The speeds on the first kernel of a workload."""
    run = run_workload(find_workload(name), size, record=simt.Record(path=True, addresses=True, widths=True))
    kernel = run.kernels[0]
    launches = [one for one in run.launches_of(kernel) if one.trace is not None]
    paths: dict[RecordOrder | None, list[Launch]] = {None: [(one.trace, None) for one in launches if one.trace]}
    orders: tuple[RecordOrder, ...] = ("scheduler", "sm")
    for order in orders:
        recorded = [(one.trace, timing.recorded_schedule(one, MACHINE, order=order)[1]) for one in launches]
        paths[order] = [(path, schedule) for path, schedule in recorded if path is not None]
    speeds = {}
    for design, needed in DESIGNS.items():
        counts = _replayed(paths[needed], kernel, design)
        accesses = counts.reads() + counts.writes()
        speeds[design] = accesses / min(_seconds(paths[needed], kernel, design) for _ in range(REPEATS)) / 1e6
    return ReplaySpeed(name, sum(int(one.warp_instructions) for one in launches), speeds)


def _replayed(paths: list[Launch], kernel: Kernel, design: str) -> Counts:
    return replay_launches(paths, kernel, design, **VALUES.get(design, {}))


def _seconds(paths: list[Launch], kernel: Kernel, design: str) -> float:
    begin = time.process_time()
    _replayed(paths, kernel, design)
    return time.process_time() - begin
