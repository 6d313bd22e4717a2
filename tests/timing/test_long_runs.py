"""Arrays of a recorded run in temporary files: the same results, and no memory that grows with the run."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.timing.test_threads import numbers

from warpreg import simt, timing
from warpreg.ir.work_observer import Work, observed_work
from warpreg.replay.replay import replay
from warpreg.timing.core.typed import Array
from warpreg.trace import TraceError, long_arrays
from warpreg_workbench.bench.growth.point import peak_bytes
from warpreg_workbench.bench.probe_kernel import NAME, THREADS, probe_elements, probe_ptx


@pytest.fixture(scope="module")
def launch() -> simt.Launch:
    """Sixteen thread blocks whose lanes take branches at random."""
    device = simt.Device(probe_ptx(4), record=simt.Record(path=True, addresses=True))
    values = device.upload(np.linspace(0, 1, probe_elements(4), dtype=np.float32))
    return device.launch(NAME, 16, THREADS, values, device.zeros(probe_elements(4), np.float32), 0.5)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_whose_data_is_in_files_has_the_same_result(
    launch: simt.Launch, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thread blocks fit the two SMs at a time, so that files are replaced while warps are resident."""
    options: dict[str, Any] = {"sms": 2, "threads": threads}
    in_memory = numbers(timing.simulate([launch], "gtx480", **options))
    monkeypatch.setattr(long_arrays, "IN_MEMORY_BYTES", 800)
    monkeypatch.setattr(long_arrays, "PAUSE_S", 0.0001)
    monkeypatch.setattr("warpreg.timing.launch.engine.FEED_WORDS", 1)
    assert numbers(timing.simulate([launch], "gtx480", **options)) == in_memory


def test_a_schedule_in_files_has_the_same_counts(launch: simt.Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts() -> dict[str, Any]:
        _, schedule = timing.recorded_schedule(launch, "gtx980-two-level", sms=2)
        assert launch.trace is not None
        return replay(launch.trace, launch.kernel, "rc", schedule=schedule).as_dict()

    in_memory = counts()
    monkeypatch.setattr(long_arrays, "IN_MEMORY_BYTES", 800)
    assert counts() == in_memory


def test_pages_leave_memory_and_keep_their_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_arrays, "IN_MEMORY_BYTES", 1 << 19)
    words = long_arrays.joined([np.arange(1 << 21), np.arange(1 << 21)])
    for _ in range(100):
        time.sleep(long_arrays.PAUSE_S)
        if _resident_bytes(words) < words.nbytes / 4:
            break
    assert _resident_bytes(words) < words.nbytes / 4
    assert np.array_equal(words[1 << 21 :], np.arange(1 << 21))


def test_a_full_disk_is_one_line(launch: simt.Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, begin: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(long_arrays, "IN_MEMORY_BYTES", 800)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(TraceError, match=r"MB of the run cannot be written to .*: No space left on device"):
        timing.simulate([launch], "gtx480", sms=2)


def test_the_peak_of_memory_is_known() -> None:
    assert peak_bytes() > 10 << 20


def _resident_bytes(words: Array) -> int:
    """How much of the array's mapping is in the memory of this process."""
    begin = words.__array_interface__["data"][0]
    with Path("/proc/self/smaps").open(encoding="ascii") as lines:
        for line in lines:
            if line.partition("-")[0] == f"{begin:x}":
                return next(int(one.split()[1]) << 10 for one in lines if one.startswith("Rss:"))
    raise AssertionError("no such mapping")


def test_progress_tells_launches_thread_blocks_and_instructions(
    launch: simt.Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thread blocks are loaded a few at a time, and what is done is told in between."""
    told: list[Work] = []
    monkeypatch.setattr("warpreg.timing.launch.engine.FEED_WORDS", 1)
    with observed_work(told.append):
        found = timing.simulate([launch, launch], "gtx480", sms=2)
    total = found.warp_instructions
    assert {work.total for work in told} == {total}
    assert [work.done for work in told] == sorted(work.done for work in told)
    assert (told[0].done, told[-1].done) == (0, total)
    blocks = [int(work.place.split()[-3]) for work in told if work.place.startswith("launch 1 of 2, ")]
    assert any(0 < block < 16 for block in blocks)
    assert told[-1].place == "launch 2 of 2, thread block 16 of 16"
