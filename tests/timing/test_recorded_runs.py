"""Recorded runs on both cores: kernels of the package and a trace, on the machines of the package.

The log of the reference is conserved: each operand is read once in its bank, each result is written once, and every
cycle of every warp slot has one cause.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.timing.both_cores import compare, fast
from tests.timing.launches import Launched, recorded
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.reference.program import steps
from tests.timing.reference.stalls import CAUSES
from tests.timing.vocabulary import Timed, timed

from warpreg import gpu, simt
from warpreg.evaluation.runs.cached_memory import with_cached_memory
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.evaluation.runs.traces import recorded_run
from warpreg.timing.feed.feed import feed
from warpreg.timing.launch.sampling import Window
from warpreg_workbench.accelsim.kernels import KERNELS
from warpreg_workbench.accelsim.trace_files import write

RUNS = (
    ("spmv", "gebhart", 1),
    ("histogram", "gtx480", 1),
    ("reduction", "titanx", 3),
    ("hotspot", "v100", 1),
    ("bfs", "rtx3070", 2),
    ("vector-add", "tfet", 3),
)
"""Workload, machine, thread blocks."""


def conserved(run: Timed, slots: int, worker: dict[str, str]) -> None:
    """Every slot-cycle has a cause with a name; banks serve each word of an instruction once."""
    run.stalls.sum_to(run.cycles * slots)
    assert set(run.stalls.counts) <= set(CAUSES) - {"other"}
    walked = steps(run.launched, worker)
    (log,) = run.outcome.logs
    read = Counter((a.sequence, a.word) for a in log.accesses if a.action == "read")
    written = Counter((a.sequence, a.word) for a in log.accesses if a.action == "write")
    issued = [(i.sequence, walked[i.block][i.warp][i.position].instruction) for i in log.issues]
    assert len(issued) == sum(len(path) for block in walked for path in block)
    banked = [(number, one) for number, one in issued if one.pipe != "ctrl"] if log.accesses else []
    assert read == Counter({(number, word): 1 for number, one in banked for word in one.sources})
    assert written == Counter((number, word) for number, one in banked for word in one.results)


def through_both(launch: Any, name: str, blocks: int) -> Timed:
    """What both cores make of the first thread blocks of a launch on one SM, which are alike."""
    machine, resident = with_cached_memory(gpu.load(name)), 2
    batches = Window(blocks).of(feed(launch.trace, launch.kernel, banks=machine.shared_memory.banks))
    launched: Launched = recorded(launch.kernel, batches)
    slow = timed(launched, sm_of(machine), PackageMemory(machine, 1), 1, resident)
    compare(slow, fast(launched, machine, 1, resident))
    return slow


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "machine", "blocks"), RUNS)
def test_kernels_of_ours_are_conserved_and_the_same_in_both_cores(workload: str, machine: str, blocks: int) -> None:
    record = simt.Record(path=True, addresses=True)
    launch = run_workload(find_workload(workload), "tiny", record=record).launches[0]
    conserved(through_both(launch, machine, blocks), gpu.load(machine).sm.warps, dict(gpu.load(machine).worker))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "machine", "version"), [("matmul_tiled_16x16", "v100", 70), ("barrier_heavy", "titanx", 61)]
)
def test_a_trace_is_conserved_and_the_same_in_both_cores(
    tmp_path: Path, kernel: str, machine: str, version: int
) -> None:
    (launch,) = recorded_run(str(write(tmp_path, kernel, KERNELS[kernel], version))).launches
    conserved(through_both(launch, machine, 1), gpu.load(machine).sm.warps, dict(gpu.load(machine).worker))
