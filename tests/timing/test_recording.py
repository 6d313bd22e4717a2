"""Schedules of a timing run: a replay that follows them equals the counts of the timing core.

The core is interpreted, which gives equal results and avoids compilation for such a short launch.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from warpreg import gpu, simt, timing
from warpreg.designs import program_table
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.replay import replay
from warpreg.timing import TimingResult
from warpreg.timing.launch.simulate import timed
from warpreg.trace import visits
from warpreg.trace.chunked import TraceError, save_all
from warpreg.trace.schedule import Schedule, ScheduleWord, records

RECORD = simt.Record(path=True, addresses=True)
TWO_LEVEL, SMS = gpu.load("gtx980-two-level"), 2
MACHINE = replace(TWO_LEVEL, schedulers=replace(TWO_LEVEL.schedulers, suspend="static"))
"""Warps are suspended at places that do not depend on cycles, nor on a design that changes them."""


@pytest.fixture(scope="module")
def launch() -> simt.Launch:
    return run_workload(find_workload("spmv"), "tiny", record=RECORD).launches[0]


@pytest.fixture(scope="module")
def recorded(launch: simt.Launch) -> tuple[TimingResult, Schedule]:
    return timing.recorded_schedule(launch, MACHINE, sms=SMS, mode="interpreted")


@pytest.mark.slow
def test_recording_changes_nothing(launch: simt.Launch, recorded: tuple[TimingResult, Schedule]) -> None:
    plain = timing.simulate([launch], MACHINE, sms=SMS, mode="interpreted")
    assert recorded[0].cycles == plain.cycles
    assert recorded[0].stall_account == plain.stall_account


@pytest.mark.slow
@pytest.mark.parametrize("design", ["rfc", "orf-lrf"])
def test_recording_beside_a_design_changes_nothing_either(launch: simt.Launch, design: str) -> None:
    result, schedule = timing.recorded_schedule(launch, MACHINE, designs=[design], sms=SMS, mode="interpreted")
    plain = timing.simulate([launch], MACHINE, designs=[design], sms=SMS, mode="interpreted")
    assert result.as_dict() == plain.as_dict()
    issued = (record.amount for record in records(schedule.chunks()) if record.kind == ScheduleWord.ISSUE)
    assert sum(issued) == launch.warp_instructions


@pytest.mark.slow
def test_a_schedule_keeps_the_order_of_each_scheduler_or_of_each_sm(
    launch: simt.Launch, recorded: tuple[TimingResult, Schedule]
) -> None:
    """Sorted by scheduler the two hold the same; neither is empty, and what warps share is used in the same order."""
    _, by_sm = timing.recorded_schedule(launch, MACHINE, sms=SMS, order="sm", mode="interpreted")
    _, by_scheduler = recorded
    assert (by_sm.order, by_scheduler.order) == ("sm", "scheduler")
    assert steps_by_scheduler(by_sm) == steps_by_scheduler(by_scheduler) != {}
    orders = [[(r.sm, r.slot) for r in records(one.chunks())] for one in (by_sm, by_scheduler)]
    assert orders[0] != orders[1]
    assert launch.trace is not None
    found = [
        replay(launch.trace, launch.kernel, "rc", schedule=one, mode="interpreted") for one in (by_sm, by_scheduler)
    ]
    assert np.array_equal(found[0].accesses, found[1].accesses)
    assert np.array_equal(found[0].moves, found[1].moves)


def steps_by_scheduler(schedule: Schedule) -> dict[tuple[int, int], list[tuple[ScheduleWord, int, int, int]]]:
    """By SM and scheduler, what happens to which slot; issues one by one."""
    found: dict[tuple[int, int], list[tuple[ScheduleWord, int, int, int]]] = {}
    for one in records(schedule.chunks()):
        times, amount = (one.amount, 1) if one.kind == ScheduleWord.ISSUE else (1, one.amount)
        mine = found.setdefault((one.sm, one.slot % schedule.slots.schedulers), [])
        mine.extend([(one.kind, one.slot, amount, one.thread_block)] * times)
    return found


@pytest.mark.slow
def test_several_schedules_share_a_file(
    launch: simt.Launch, recorded: tuple[TimingResult, Schedule], tmp_path: Path
) -> None:
    """As the members of a gzip file do; one alone is a file as ``save`` writes it."""
    file = tmp_path / "two.schedule"
    save_all([recorded[1], recorded[1]], file)
    first, second = Schedule.open_all(file)
    words = [np.concatenate(list(one.chunks())).tolist() for one in (recorded[1], first, second)]
    assert words[0] == words[1] == words[2]
    second.save(tmp_path / "one.schedule")
    assert len(Schedule.open_all(tmp_path / "one.schedule")) == 1
    assert (tmp_path / "one.schedule").read_bytes() * 2 == file.read_bytes()
    with pytest.raises(TraceError, match="the schedule is cut off or damaged"):
        Schedule.open(file)
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(TraceError, match=r"two\.schedule: the schedule is cut off"):
        Schedule.open_all(file)


@pytest.mark.slow
def test_every_instruction_and_warp_is_in_the_schedule_once(
    launch: simt.Launch, recorded: tuple[TimingResult, Schedule]
) -> None:
    found: Counter[int] = Counter()
    warps = set()
    for record in records(recorded[1].chunks()):
        found[record.kind] += record.amount if record.kind == ScheduleWord.ISSUE else 1
        if record.kind == ScheduleWord.START:
            warps.add((record.thread_block, record.amount))
    assert found[ScheduleWord.ISSUE] == launch.warp_instructions
    assert found[ScheduleWord.START] == found[ScheduleWord.END] == len(warps)
    assert found[ScheduleWord.ACTIVATE] >= len(warps)
    table = program_table(launch.kernel)
    assert launch.trace is not None
    visited = Counter(visit.block for visit in visits(launch.trace.path_chunks()))
    loads = [int(table.long_latency[a:b].sum()) for a, b in pairwise(table.first_pc.tolist())]
    assert found[ScheduleWord.ARRIVE] == sum(visited[block] * count for block, count in enumerate(loads)) > 0


@pytest.mark.slow
def test_replay_along_the_schedule_counts_what_the_timing_core_counts(
    launch: simt.Launch, recorded: tuple[TimingResult, Schedule]
) -> None:
    """The register file cache depends on nothing but each warp's own path and suspensions."""
    assert launch.trace is not None
    replayed = replay(launch.trace, launch.kernel, "rfc", schedule=recorded[1], mode="interpreted")
    chosen = ConfiguredDesign.of(["rfc"], {})
    counts = timed(launch, MACHINE, chosen, sms=SMS, mode="interpreted").result.counts
    assert counts.as_dict() == replayed.as_dict()


def test_a_design_that_depends_on_the_order_of_warps_is_replayed_along_it(
    launch: simt.Launch, recorded: tuple[TimingResult, Schedule]
) -> None:
    assert launch.trace is not None
    replayed = replay(launch.trace, launch.kernel, "rc", schedule=recorded[1], mode="interpreted")
    baseline = replay(launch.trace, launch.kernel, "mrf")
    assert replayed.reads() == baseline.reads()
    assert replayed.mrf_accesses < baseline.mrf_accesses
