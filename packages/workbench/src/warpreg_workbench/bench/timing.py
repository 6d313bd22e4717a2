"""``warpreg bench timing``: speed of the timing core on this machine.

- speed: warp-instructions per processor second over the first thread blocks of the recorded launches of the demo
  kernels (about two million instructions each), by machine; includes decoding of path and addresses, but not compiling
  the core.  A kernel that demands more registers than a thread of the machine has is run with the machine's maximum.
- nanoseconds: the same as processor time of a warp-instruction, beside that of a load in a loop of the host that
  follows pointers (`warpreg_workbench.bench.timing_shares`); their ratio compares hosts.
- memory share and threads: the share of the memory model in the time of the core, and the speed of two threads relative
  to one, of the largest launch of each kernel.
- modern ratio: processor time of a warp-instruction on a machine whose sub-cores have no collectors, relative to one
  with collectors, in turns; both run the code of Warpreg's compiler.
- hook overhead: the time that the register file cache adds, whose two hooks plan every operand; without and with it in
  turns; the largest over the kernels.
- first compile and later start: seconds of a whole process that times a tiny run, with an empty cache and with a warm
  one.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from warpreg import simt
from warpreg.evaluation.runs.cached_memory import with_cached_memory
from warpreg.evaluation.runs.demand import demand_on
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.gpu import load as load_machine
from warpreg.timing import Window, simulate
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.processes import python
from warpreg_workbench.bench.spine import WORKLOADS
from warpreg_workbench.bench.timing_shares import chase_ns, memory_share, threads_speedup
from warpreg_workbench.bench.trace import traces

MACHINES = ("gebhart", "gtx480", "titanx", "v100")
REPEATS = 2
TURNS = 3
SAMPLE = 2_000_000
MIN_BLOCKS = 64
HOOKED = "rfc"
HOOKED_MACHINE = "gtx480"
MODERN, WITH_COLLECTORS = "h100", "v100"
TINY = ("-m", "warpreg", "run", "vector-add", "--size", "tiny", "--cycles", "--json")
LATER_STARTS = 3

Begin = Callable[[str], None]


def timing(size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """All figures by name; ``begin`` is called with the next measurement."""
    rows: list[dict[str, Any]] = []
    for name in WORKLOADS:
        begin(f"running {name}")
        run = recorded(name, size)
        row: dict[str, Any] = {"workload": name, "warp_instructions": run.warp_instructions}
        for machine in MACHINES:
            begin(f"timing {name} on {machine}")
            row[machine] = speed(run, machine)
            described = with_cached_memory(load_machine(machine))
            row[f"{machine} memory"] = memory_share(run, described, SAMPLE)
            row[f"{machine} threads"] = threads_speedup(run, described, SAMPLE)
        begin(f"timing {name} on {MODERN} and {WITH_COLLECTORS} in turns")
        row["modern"] = modern_ratio(name, size)
        row["hooks"] = slowdown(run, HOOKED_MACHINE, (HOOKED,))
        rows.append(row)
    begin("starting processes")
    first, later = start_seconds()
    begin("reading traces")
    return {
        "timing_mwi_s_geomean": {machine: geometric_mean(row[machine] for row in rows) for machine in MACHINES},
        "timing_mwi_s_min": {machine: min(row[machine] for row in rows) for machine in MACHINES},
        "timing_ns_geomean": {machine: 1000 / geometric_mean(row[machine] for row in rows) for machine in MACHINES},
        "chase_ns": chase_ns(),
        "memory_share_mean": {
            machine: statistics.fmean(row[f"{machine} memory"] for row in rows) for machine in MACHINES
        },
        "threads_speedup_geomean": {
            machine: geometric_mean(row[f"{machine} threads"] for row in rows) for machine in MACHINES
        },
        "modern_ratio_geomean": geometric_mean(row["modern"] for row in rows),
        "modern_ratio_max": max(row["modern"] for row in rows),
        "hook_overhead_max": max(row["hooks"] for row in rows) - 1,
        "first_compile_s": first,
        "later_start_s": later,
        "traceg_mb_s": traces()["traceg_mb_s"],
        "machine": host() | {"code": code_version(), "size": size},
        "workloads": rows,
    }


def recorded(name: str, size: str) -> Run:
    """A run of a workload with what timing needs."""
    return run_workload(find_workload(name), size, record=simt.Record(path=True, addresses=True))


def speed(run: Run, machine: str) -> float:
    """Million warp-instructions per processor second without contention of memory, the best of `REPEATS` after the core
    is compiled.
    """
    return max([rate(run, machine) for _ in range(1 + REPEATS)][1:])


def slowdown(run: Run, machine: str, designs: Sequence[str]) -> float:
    """Processor time under ``designs`` divided by that without, the best of `TURNS` of each after the cores are
    compiled; in turns, so that a host that becomes slower meanwhile does not count.
    """
    turns = [(rate(run, machine), rate(run, machine, designs)) for _ in range(1 + TURNS)][1:]
    return max(plain for plain, _ in turns) / max(designed for _, designed in turns)


def modern_ratio(name: str, size: str) -> float:
    """Processor time of a warp-instruction on `MODERN` in that on `WITH_COLLECTORS`: the best of `TURNS` turns of each
    after the cores are compiled.  Each run is a new one, of which nothing is kept in memory for another machine.
    """
    turns = [tuple(rate(recorded(name, size), one) for one in (MODERN, WITH_COLLECTORS)) for _ in range(1 + TURNS)][1:]
    return max(other for _, other in turns) / max(modern for modern, _ in turns)


def rate(run: Run, machine: str, designs: Sequence[str] = ()) -> float:
    """Million warp-instructions per processor second without contention of memory."""
    described, window = with_cached_memory(load_machine(machine)), sample(run)
    begin = time.process_time()
    instructions = sum(
        simulate(
            [launch], described, designs=designs, window=window, registers=demand_on(launch, described), threads=1
        ).warp_instructions
        for launch in run.launches
    )
    return instructions / (time.process_time() - begin) / 1e6


def sample(run: Run) -> Window:
    """The first thread blocks of each launch, with about `SAMPLE` warp-instructions in all launches together."""
    blocks = sum(math.prod(launch.grid) for launch in run.launches)
    share = min(1.0, SAMPLE / run.warp_instructions)
    return Window(max(MIN_BLOCKS, math.ceil(blocks * share / len(run.launches))))


def start_seconds() -> tuple[float, float]:
    """Seconds of the process ``warpreg run vector-add --cycles``: with an empty cache, and with a warm one."""
    with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as cache:
        return _seconds(cache), statistics.median(_seconds(cache) for _ in range(LATER_STARTS))


def _seconds(cache: str) -> float:
    begin = time.perf_counter()
    python(TINY, cache)
    return time.perf_counter() - begin
