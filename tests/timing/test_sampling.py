"""Windows of a launch's thread blocks."""

from __future__ import annotations

import pytest

from warpreg import simt, timing
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.timing import TimingError, Window
from warpreg.timing.feed.feed import feed

RECORD = simt.Record(path=True, addresses=True)


@pytest.fixture(scope="module")
def launch() -> simt.Launch:
    return run_workload(find_workload("vector-add"), "tiny", record=RECORD).launches[0]


def test_a_window_cuts_batches_at_thread_blocks(launch: simt.Launch) -> None:
    assert launch.trace is not None
    (whole,) = feed(launch.trace, launch.kernel)
    assert whole.count >= 4
    (part,) = Window(2, first=1).of([whole])
    assert (part.first, part.count, part.warps) == (1, 2, whole.warps)
    row = whole.warps
    assert part.visits.tolist() == whole.visits[whole.visit_start[row] : whole.visit_start[3 * row]].tolist()
    assert part.visit_start[0] == part.access_start[0] == 0
    assert part.visit_start[-1] == part.visits.size
    assert part.access_start[-1] == part.accesses.size


@pytest.mark.slow
def test_windows_side_by_side_hold_every_instruction_once(launch: simt.Launch) -> None:
    whole = timing.simulate([launch], "gebhart", sms=1)
    low = timing.simulate([launch], "gebhart", sms=1, window=Window(2))
    high = timing.simulate([launch], "gebhart", sms=1, window=Window(1_000_000, first=2))
    assert low.warp_instructions + high.warp_instructions == whole.warp_instructions
    assert 0 < low.cycles <= whole.cycles


def test_a_window_that_holds_nothing_is_an_error(launch: simt.Launch) -> None:
    with pytest.raises(TimingError, match="no launch has 1001 thread blocks"):
        timing.simulate([launch], "gebhart", sms=1, window=Window(1, first=1000))
    with pytest.raises(TimingError, match="1 thread block or more"):
        Window(0)
