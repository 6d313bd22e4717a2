"""``warpreg bench spine``: the speed figures of the package on this machine, one core, each the median of five.

- functional: warp-instructions per second with the path recorded; includes the launch and writing the path, but not
  compiling.
- limit: the multiply-adds of `limit`, measured in turns with the runs of each workload.
- share: speed with the path recorded, divided by the limit.
- own limit: that of the workload's own accesses to memory (`own_limit`), measured in the same turns; own share: speed
  with the path recorded, divided by it.
- recorded addresses, recorded widths, recorded patterns: speed with lane addresses, value widths or patterns recorded
  too, relative to the speed with the path alone; the runs take turns.
- compile: PTX text to runnable native code, a kernel of 400 instructions, with an empty cache and from the disk cache.
- path bytes: bytes of the recorded path on disk per warp-instruction, on the worst kernel.
- replay: register accesses per second through the register file cache, from the recorded path on disk.
- parse: PTX text of the workloads, one file after the other.
- first and later run: ``warpreg run vector-add`` as a new process, with an empty and with a warm cache.
- start-up: see `start`.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import codegen, simt, workloads
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.counting import replayed
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import AS_COMPILED, Run, find_workload, load_device
from warpreg.ptx import parse
from warpreg_workbench.bench.executor_limit import limit_mwi_s
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.instruction_mix import Mix, instruction_mix
from warpreg_workbench.bench.own_limit import unit_costs
from warpreg_workbench.bench.probe_kernel import NAME, probe_ptx
from warpreg_workbench.bench.processes import python
from warpreg_workbench.bench.start import start_ratios

WORKLOADS = (
    "vector-add", "matrix-mul", "reduction", "bfs", "hotspot", "nw", "mandelbrot", "histogram",
)  # fmt: skip
REPEATS = 5
MIN_INSTRUCTIONS = 20_000_000
"""Warp-instructions a workload must execute for its speed to count."""

COMPILED_INSTRUCTIONS = 400
PARSED_BYTES = 1_000_000
PATH = simt.Record(path=True)
ADDRESSES = simt.Record(path=True, addresses=True)
WIDTHS = simt.Record(path=True, widths=True)
PATTERNS = simt.Record(path=True, patterns=True)

Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Speed:
    """One workload: M warp-instructions per second with the path, with addresses, widths or patterns too; bytes of path
    on disk; M multiply-adds per second of the host's limit, and M warp-instructions of that of the workload."""

    workload: str
    warp_instructions: int
    path_mwi_s: float
    addresses_mwi_s: float
    widths_mwi_s: float
    patterns_mwi_s: float
    path_bytes: int
    replay_maccess_s: float
    limit_mwi_s: float
    own_limit_mwi_s: float

    @property
    def limit_share(self) -> float:
        """Speed with the path, in the limit of the host."""
        return self.path_mwi_s / self.limit_mwi_s

    @property
    def own_limit_share(self) -> float:
        """The same in the limit of the workload."""
        return self.path_mwi_s / self.own_limit_mwi_s

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "warp_instructions": self.warp_instructions,
            "counts": self.warp_instructions >= MIN_INSTRUCTIONS,
            "functional_mwi_s": self.path_mwi_s,
            "limit_share": self.limit_share,
            "own_limit_mwi_s": self.own_limit_mwi_s,
            "own_limit_share": self.own_limit_share,
            "addresses_mwi_s": self.addresses_mwi_s,
            "widths_mwi_s": self.widths_mwi_s,
            "patterns_mwi_s": self.patterns_mwi_s,
            "path_bytes_per_wi": self.path_bytes / self.warp_instructions,
            "replay_maccess_s": self.replay_maccess_s,
        }


def spine(size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """All figures by name, then ``machine`` and a row per workload; ``begin`` is called with the next measurement."""
    speeds = []
    for name in WORKLOADS:
        begin(f"running {name}")
        speeds.append(workload_speed(name, size))
    begin("compiling")
    first_compile, cached_compile = compile_seconds()
    begin("parsing")
    parsing = parse_mb_s()
    begin("starting processes")
    first_run, later_run = start_seconds()
    return {
        "functional_mwi_s_geomean": geometric_mean(speed.path_mwi_s for speed in speeds),
        "functional_mwi_s_min": min(speed.path_mwi_s for speed in speeds),
        "limit_mwi_s": statistics.median(speed.limit_mwi_s for speed in speeds),
        "limit_share_geomean": geometric_mean(speed.limit_share for speed in speeds),
        "limit_share_min": min(speed.limit_share for speed in speeds),
        "own_limit_share_geomean": geometric_mean(speed.own_limit_share for speed in speeds),
        "own_limit_share_min": min(speed.own_limit_share for speed in speeds),
        "recorded_addresses_ratio": geometric_mean(speed.addresses_mwi_s / speed.path_mwi_s for speed in speeds),
        "recorded_widths_ratio": geometric_mean(speed.widths_mwi_s / speed.path_mwi_s for speed in speeds),
        "recorded_widths_ratio_min": min(speed.widths_mwi_s / speed.path_mwi_s for speed in speeds),
        "recorded_patterns_ratio": geometric_mean(speed.patterns_mwi_s / speed.path_mwi_s for speed in speeds),
        "recorded_patterns_ratio_min": min(speed.patterns_mwi_s / speed.path_mwi_s for speed in speeds),
        "compile_s_400": first_compile,
        "compile_cached_s_400": cached_compile,
        "path_bytes_per_wi": max(speed.path_bytes / speed.warp_instructions for speed in speeds),
        "replay_maccess_s": geometric_mean(speed.replay_maccess_s for speed in speeds),
        "parse_mb_s": parsing,
        "first_run_s": first_run,
        "later_run_s": later_run,
        **start_ratios(),
        "machine": host() | {"code": code_version(), "size": size},
        "workloads": [speed.as_dict() for speed in speeds],
    }


def workload_speed(name: str, size: str) -> Speed:
    """Speed of one workload, without the time to make inputs and compile kernels."""
    problem = find_workload(name).problem(size)
    problem.check(problem.run(load_device(problem.workload, AS_COMPILED)))
    mix = workload_mix(problem)
    taken: dict[simt.Record, list[float]] = {ADDRESSES: [], WIDTHS: [], PATTERNS: [], PATH: []}
    limits: list[float] = []
    least: list[float] = []
    launches: tuple[simt.Launch, ...] = ()
    for _ in range(REPEATS):
        for record, times in taken.items():
            device = load_device(problem.workload, AS_COMPILED, record)
            problem.run(device)
            launches = tuple(device.launches)
            times.append(sum(launch.seconds for launch in launches) + seconds_until_written(launches))
        limits.append(limit_mwi_s())
        least.append(unit_costs(mix.footprint, 1e3 / limits[-1]).seconds(mix))
    seconds = {record: statistics.median(times) for record, times in taken.items()}
    run = Run(name, launches)
    return Speed(
        workload=name,
        warp_instructions=run.warp_instructions,
        path_mwi_s=run.warp_instructions / seconds[PATH] / 1e6,
        addresses_mwi_s=run.warp_instructions / seconds[ADDRESSES] / 1e6,
        widths_mwi_s=run.warp_instructions / seconds[WIDTHS] / 1e6,
        patterns_mwi_s=run.warp_instructions / seconds[PATTERNS] / 1e6,
        path_bytes=sum(launch.trace.totals["stored_bytes"]["path"] for launch in launches if launch.trace),
        replay_maccess_s=replay_maccess_s(run),
        limit_mwi_s=statistics.median(limits),
        own_limit_mwi_s=run.warp_instructions / statistics.median(least) / 1e6,
    )


def seconds_until_written(launches: Sequence[simt.Launch]) -> float:
    """Seconds until the recordings are written that finished launches have left to another thread."""
    begin = time.perf_counter()
    for launch in launches:
        _ = launch.trace
    return time.perf_counter() - begin


def workload_mix(problem: workloads.Problem) -> Mix:
    """What the instructions of a workload do to memory, from a run with recorded addresses."""
    device = load_device(problem.workload, AS_COMPILED, ADDRESSES)
    problem.run(device)
    return instruction_mix(device.launches, device.memory.end - device.memory.base)


def replay_maccess_s(run: Run) -> float:
    """Million register accesses per second in the replay of the register file cache, with the path read from disk."""
    choice = ConfiguredDesign.load("rfc")
    counted = replayed(run, choice)
    accesses = sum(counts.reads() + counts.writes() for counts in counted)
    return accesses / _median(lambda: replayed(run, choice)) / 1e6


def parse_mb_s() -> float:
    """MB (10^6 bytes) of PTX text per second: the workloads' files, repeated to at least a megabyte."""
    texts = [workloads.find(name).ptx_path.read_text(encoding="utf-8") for name in WORKLOADS]
    once = sum(map(len, texts))
    rounds = -(-PARSED_BYTES // once)

    def read() -> None:
        for text in texts * rounds:
            parse(text)

    return once * rounds / _median(read) / 1e6


def compile_seconds() -> tuple[float, float]:
    """Seconds from PTX text to native code for `COMPILED_INSTRUCTIONS` instructions: empty cache, then disk cache."""
    segments = probe_segments(COMPILED_INSTRUCTIONS)
    first, cached = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as cache:
            first.append(_compile_in_process(segments, cache))
            cached.append(_compile_in_process(segments, cache))
    return statistics.median(first), statistics.median(cached)


def probe_segments(instructions: int) -> int:
    """The number of probe kernel segments whose compiled length is closest to ``instructions``."""

    def compiled(segments: int) -> int:
        kernel = codegen.build_kernel(parse(probe_ptx(segments)), NAME)
        return codegen.compile(kernel, AS_COMPILED.options()).instruction_count

    few, more = 4, 12
    each = (compiled(more) - compiled(few)) / (more - few)
    return max(1, round(few + (instructions - compiled(few)) / each))


def _compile_in_process(segments: int, cache: str) -> float:
    script = f"from warpreg_workbench.bench import spine; spine.print_compile_seconds({segments})"
    return float(json.loads(python(["-c", script], cache)))


def print_compile_seconds(segments: int) -> None:
    """Compile the probe kernel in this process and print the seconds, without the time to import modules."""
    text = probe_ptx(segments)
    begin = time.perf_counter()
    prepare(text)
    print(json.dumps(time.perf_counter() - begin))


def prepare(text: str) -> None:
    """Make the probe kernel ready to launch."""
    simt.Device(text, AS_COMPILED.options(), PATH).native(NAME)


def start_seconds() -> tuple[float, float]:
    """Seconds of the process ``warpreg run vector-add``: with an empty cache directory, and with a warm one."""
    first: list[float] = []
    later: list[float] = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as cache:
            for taken in (first, later):
                begin = time.perf_counter()
                python(["-m", "warpreg", "run", "vector-add"], cache)
                taken.append(time.perf_counter() - begin)
    return statistics.median(first), statistics.median(later)


def _median(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)
