"""Schedules that a timing run leaves: replay follows them, and counts what the timing core counts.

The core runs uncompiled, which tells the same and needs no compiler for so short a launch.
"""

from __future__ import annotations

from collections import Counter

import pytest

from warpreg import gpu, simt, timing
from warpreg.experiments.runs import find_workload, run_workload
from warpreg.replay import replay
from warpreg.timing.simulate import Chosen, timed
from warpreg.trace.schedule import ScheduleWord, records

RECORD = simt.Record(path=True, addresses=True)
MACHINE, SMS = "gtx980-two-level", 2


@pytest.fixture(scope="module")
def launch():
    return run_workload(find_workload("spmv"), "tiny", record=RECORD).launches[0]


@pytest.fixture(scope="module")
def recorded(launch):
    return timing.recorded_schedule(launch, MACHINE, sms=SMS, mode="interpreted")


def test_recording_changes_nothing(launch, recorded) -> None:
    plain = timing.simulate([launch], MACHINE, sms=SMS, mode="interpreted")
    assert recorded[0].cycles == plain.cycles
    assert recorded[0].stall_account == plain.stall_account


def test_every_instruction_and_warp_is_in_the_schedule_once(launch, recorded) -> None:
    found = Counter()
    warps = set()
    for record in records(recorded[1].chunks()):
        found[record.kind] += record.amount if record.kind == ScheduleWord.ISSUE else 1
        if record.kind == ScheduleWord.START:
            warps.add((record.thread_block, record.amount))
    assert found[ScheduleWord.ISSUE] == launch.warp_instructions
    assert found[ScheduleWord.START] == found[ScheduleWord.END] == len(warps)
    assert found[ScheduleWord.ACTIVATE] >= len(warps)


def test_replay_along_the_schedule_counts_what_the_timing_core_counts(launch, recorded) -> None:
    """The register file cache depends on nothing but each warp's own path and suspensions."""
    replayed = replay(launch.trace, launch.kernel, "rfc", schedule=recorded[1], mode="interpreted")
    chosen = Chosen.of(["rfc"], {})
    _, outside = timed(launch, gpu.load(MACHINE), chosen, None, SMS, None, "interpreted")
    assert outside.accesses.tolist() == replayed.accesses.reshape(-1).tolist()
    assert outside.moves.tolist() == replayed.moves.tolist()


def test_a_design_that_depends_on_the_order_of_warps_is_replayed_along_it(launch, recorded) -> None:
    replayed = replay(launch.trace, launch.kernel, "rc", schedule=recorded[1], mode="interpreted")
    baseline = replay(launch.trace, launch.kernel, "mrf")
    assert replayed.reads() == baseline.reads()
    assert replayed.mrf_accesses < baseline.mrf_accesses
