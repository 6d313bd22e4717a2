"""Counts of a timing run equal those of a replay if the design does not depend on time."""

from __future__ import annotations

import pytest

from warpreg import simt, timing
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.replay import replay, together

RECORD = simt.Record(path=True, addresses=True)


@pytest.fixture(scope="module")
def run() -> Run:
    return run_workload(find_workload("spmv"), "tiny", record=RECORD)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["mrf", "rfc", "rfc-lrf", "orf-lrf", "rsp"])
def test_accesses_moves_and_events_are_those_of_a_replay(run: Run, design: str) -> None:
    """On a machine whose warps are all active: no suspension flushes a cache."""
    timed = timing.simulate(run.launches, "gtx480", designs=[design], sms=2, mode="interpreted")
    (kernel,) = run.kernels
    assert timed.counts.as_dict() == replay(run.path(kernel), kernel, design, mode="interpreted").as_dict()


@pytest.mark.slow
def test_without_a_design_all_is_in_the_mrf(run: Run) -> None:
    (kernel,) = run.kernels
    timed = timing.simulate(run.launches, "gebhart", sms=1, mode="interpreted")
    assert timed.counts.as_dict() == replay(run.path(kernel), kernel, "mrf").as_dict()
    assert timed.counts.warp_instructions == timed.warp_instructions == timed.issued.sum()


@pytest.mark.slow
def test_launches_add_up(run: Run) -> None:
    one = timing.simulate(run.launches, "gebhart", sms=1, mode="interpreted")
    two = timing.simulate([*run.launches, *run.launches], "gebhart", sms=1, mode="interpreted")
    assert two.counts.as_dict() == together(one.counts, one.counts).as_dict()
    assert two.moved["port"].amount == 2 * one.moved["port"].amount
    assert (two.bandwidth_use, two.collector_occupancy) == (one.bandwidth_use, one.collector_occupancy)
