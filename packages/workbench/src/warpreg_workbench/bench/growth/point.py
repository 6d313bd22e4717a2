"""One measurement of growth: a step of the probe kernel in a process of its own, its processor time and its memory."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from warpreg import designs, simt
from warpreg.evaluation.runs.cached_memory import with_cached_memory
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.gpu import load
from warpreg.replay.replay import replay
from warpreg.timing import simulate
from warpreg_workbench.bench.probe_kernel import NAME, THREADS, probe_elements, probe_ptx
from warpreg_workbench.bench.processes import python

Step = Literal["run", "run, widths", "replay", "timing", "timing, contention", "compile", "placement"]

MACHINE = "v100"
REPLAYED = "rfc"
PLACED = "orf-lrf"
STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Point:
    """What is measured: a step, and the shape of the launch.  ``sms``: SMs of the timed machine (default: all)."""

    step: Step
    segments: int
    iterations: int
    blocks: int
    sms: int | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of the step, peak memory of its process and bytes that the run recorded on disk.

    The process compiles the kernel and runs it before the step, and all that on a tiny kernel before.
    """

    static_instructions: int
    warp_instructions: int
    seconds: float
    peak_bytes: int
    recorded_bytes: int

    @property
    def ns_per_instruction(self) -> float:
        """Nanoseconds per warp-instruction of the run."""
        return self.seconds * 1e9 / self.warp_instructions


def measured(point: Point, cache: str) -> Cost:
    """The cost of a point in a new process with this cache directory."""
    script = "from warpreg_workbench.bench.growth import point; import sys; point.print_cost(sys.argv[1])"
    return Cost(**json.loads(python(["-c", script, json.dumps(dataclasses.asdict(point))], cache)))


def print_cost(described: str) -> None:
    """Measure a point, given as JSON, in this process and print the cost as JSON."""
    point = Point(**json.loads(described))
    cost_of(Point(point.step, point.segments + 1, 1, 1))
    print(json.dumps(dataclasses.asdict(cost_of(point))))


def cost_of(point: Point) -> Cost:
    """The cost of a point in this process, in which the peak of memory is that of all work so far."""
    launch, taken = _run(point)
    if point.step in STEPS:
        begin = time.process_time()
        STEPS[point.step](launch, point)
        taken[point.step] = time.process_time() - begin
    return Cost(
        static_instructions=launch.kernel.instruction_count,
        warp_instructions=int(launch.warp_instructions),
        seconds=taken[point.step],
        peak_bytes=peak_bytes(),
        recorded_bytes=sum(launch.trace.totals["stored_bytes"].values()) if launch.trace else 0,
    )


def peak_bytes() -> int:
    """The most memory that this process has had, or 0 where the system does not tell."""
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


def _run(point: Point) -> tuple[simt.Launch, dict[str, float]]:
    """A recorded launch of the probe kernel, and the seconds to compile it and to run it."""
    text = probe_ptx(point.segments, point.iterations)
    record = simt.Record(path=True, addresses=point.step.startswith("timing"), widths=point.step == "run, widths")
    begin = time.process_time()
    device = simt.Device(text, AS_COMPILED.options(), record)
    device.native(NAME)
    compiled = time.process_time() - begin
    elements = max(THREADS, probe_elements(point.segments))
    values = device.upload(np.linspace(0, 1, elements, dtype=np.float32))
    results = device.zeros(elements, np.float32)
    begin = time.process_time()
    launch = device.launch(NAME, point.blocks, THREADS, values, results, 0.5)
    taken = time.process_time() - begin
    return launch, {"compile": compiled, "run": taken, "run, widths": taken}


def _replay(launch: simt.Launch, point: Point) -> None:
    assert launch.trace is not None
    replay(launch.trace, launch.kernel, REPLAYED)


def _cached(launch: simt.Launch, point: Point) -> None:
    simulate([launch], with_cached_memory(load(MACHINE)), sms=point.sms, threads=1)


def _contention(launch: simt.Launch, point: Point) -> None:
    simulate([launch], load(MACHINE), sms=point.sms, threads=1)


def _placement(launch: simt.Launch, point: Point) -> None:
    launch.kernel.analyses.clear()
    design = designs.load(PLACED)
    design.compile(designs.program_table(launch.kernel), design.configure(), launch.kernel)


STEPS: Mapping[str, Callable[[simt.Launch, Point], None]] = {
    "replay": _replay,
    "timing": _cached,
    "timing, contention": _contention,
    "placement": _placement,
}
