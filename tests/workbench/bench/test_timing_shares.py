"""What the shares of a timing run are measured with: the same run, and pointers that visit all lines."""

from __future__ import annotations

import pytest

from warpreg import simt, timing
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.gpu import load
from warpreg.timing import Window
from warpreg.timing.launch.simulate import timed
from warpreg.timing.memory.memory_columns import scalars
from warpreg_workbench.bench.timing_shares import LINE_WORDS, LINES, chase, circle, largest


def test_the_pointers_visit_every_line_once() -> None:
    following, at, visited = circle(), 0, set()
    for _ in range(LINES):
        visited.add(at // LINE_WORDS)
        at = int(following[at])
    assert (len(visited), at) == (LINES, chase(following, LINES)) == (LINES, 0)


@pytest.mark.parametrize("machine", ["gebhart", "gtx480"])
def test_a_clock_around_the_memory_model_changes_nothing(machine: str) -> None:
    launch = run_workload(find_workload("vector-add"), "tiny", record=simt.Record(path=True, addresses=True)).launches[
        0
    ]
    found = timed(launch, load(machine), ConfiguredDesign.of((), {}), sms=1, mode="interpreted", clocked=True)
    plain = timing.simulate([launch], machine, sms=1, mode="interpreted")
    assert found.result.as_dict() == plain.as_dict()
    assert found.outside.system.scalars[scalars.CALLS] > plain.transactions


def test_the_largest_launch_is_cut_to_its_share_of_instructions() -> None:
    """vector-add has 20 thread blocks of equal length."""
    run = run_workload(find_workload("vector-add"), "tiny", record=simt.Record(path=True, addresses=True))
    launch, window = largest(run, run.launches[0].warp_instructions // 2)
    assert (launch, window) == (run.launches[0], Window(10))
