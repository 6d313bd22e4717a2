"""The second-level cache between launches, and copies from the host (docs/reference/memory.md).

The trace adds two arrays of 128 words.  Its loads read 2 x 128 x 4 / 32 = 32 sectors; its stores read none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.sass.vector_add import write_vector_add
from tests.timing.assembly import one_warp
from tests.timing.both_cores import compare, fast
from tests.timing.launches import FULL
from tests.timing.machine_files import machine_of
from tests.timing.memory.systems import CACHED, CONTENTION, FIXED, Driver
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm
from tests.timing.reference.package_memory import PackageMemory, left_by
from tests.timing.vocabulary import timed

from warpreg import timing
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.traces import recorded_run
from warpreg.gpu.memory import MemorySystem
from warpreg.sass.listing import Copy
from warpreg.timing.core.typed import array_of
from warpreg.timing.memory.between_launches import SecondLevel, SecondLevelState, put
from warpreg.timing.memory.memory_columns import cache_sets

SECTORS = 32
ON = "gtx480"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded_run(str(write_vector_add(tmp_path_factory.mktemp("trace"), 128)))


def dram_reads(run: Run, times: int, **options: Any) -> int:
    found = timing.simulate([*run.launches] * times, ON, sms=1, mode="interpreted", **options)
    return int(found.memory["dram_reads"])


def test_a_launch_finds_what_the_one_before_has_left(run: Run) -> None:
    assert dram_reads(run, 1) == SECTORS
    assert dram_reads(run, 3) == SECTORS


def test_cold_launches_read_all_again(run: Run) -> None:
    assert dram_reads(run, 3, cold=True) == 3 * SECTORS


def test_copies_from_the_host_are_in_the_cache_before_their_launch(run: Run) -> None:
    # The list copies both arrays before the first launch; a copy of the first one alone leaves the second to DRAM.
    assert dram_reads(run, 1, copies=run.copies) == 0
    assert dram_reads(run, 1, copies=run.copies[:1]) == SECTORS // 2
    first, second = (Copy(one.address, one.bytes, before) for before, one in enumerate(run.copies))
    assert dram_reads(run, 2, copies=[first, second]) == SECTORS // 2


def test_a_schedule_is_recorded_with_the_same_caches(run: Run) -> None:
    launches = [*run.launches] * 2
    for options in ({}, {"cold": True}, {"copies": run.copies}):
        plain = timing.simulate(launches, ON, sms=1, mode="interpreted", **options)
        taken, _ = timing.recorded_schedules(launches, ON, sms=1, mode="interpreted", **options)
        assert (taken.cycles, taken.memory) == (plain.cycles, plain.memory)


def test_an_estimate_of_launches_timed_whole_is_the_run(run: Run) -> None:
    launches = [*run.launches] * 2
    for cold in (False, True):
        plain = timing.simulate(launches, ON, mode="interpreted", cold=cold)
        found = timing.estimate(launches, ON, timing.Sample(), mode="interpreted", cold=cold)
        assert (found.cycles, found.timed.memory) == (plain.cycles, plain.memory)


LOADS = """
ld.global.u32 R4, [R4.64]
st.global.u32 [R4.64], R4
"""


def present(contents: SecondLevel) -> tuple[NDArray[Any], ...]:
    """The lines that were ever used, the sets and the buckets."""
    ways = len(contents.lines) // len(contents.sets)
    of_set, way = np.divmod(np.arange(len(contents.lines)), ways)
    return contents.lines[way < contents.sets[of_set, cache_sets.USED]], contents.sets, contents.buckets


@pytest.mark.parametrize("system", [CACHED, CONTENTION])
def test_both_cores_leave_the_same_lines_and_find_them(system: MemorySystem) -> None:
    load, store = (Access(FULL, "global", 0, tuple((128 * line, 15) for line in lines)) for lines in ((0, 3), (3, 7)))
    launched, machine = one_warp(LOADS, load, store), replace(machine_of(Sm()), memory=system)
    contents: SecondLevel | None = None
    cycles = []
    for _ in range(2):
        memory = PackageMemory(machine, 1, contents=contents)
        slow = timed(launched, Sm(), memory, 1, 8)
        quick = fast(launched, machine, 1, 8, contents=contents)
        compare(slow, quick)
        contents = left_by(quick.outside.system)
        assert all(map(np.array_equal, present(memory.left), present(contents)))
        cycles.append(slow.cycles)
    assert cycles[1] < cycles[0] - 100  # the latency of DRAM


def test_reads_under_way_at_the_end_are_there_in_the_next_launch() -> None:
    driver, following = Driver(CACHED), Driver(CACHED)
    driver.send(1, 0, sectors=3)
    driver.to(60)  # looked up in the second level at 35, back from DRAM after 160
    put(following.memory, left_by(driver.memory))
    following.send(1, 0, sectors=3)
    following.when(1)
    assert (driver.count("l2_misses"), following.count("l2_hits"), following.count("dram_reads")) == (1, 1, 0)


def test_a_copy_evicts_older_lines_and_is_clean() -> None:
    # 2 slices of 16 lines hold 4 KB; a copy of 8 KB leaves its second half.
    driver = Driver(CACHED)
    SecondLevelState([Copy(0, 8192, 0)]).begin(driver.memory, "interpreted")
    for ticket, line in enumerate((0, 8064)):
        driver.send(ticket, line, sectors=1)
        driver.when(ticket)
    assert (driver.count("dram_reads"), driver.count("dram_writes")) == (1, 0)


def test_a_memory_without_a_second_level_keeps_nothing() -> None:
    driver = Driver(FIXED)
    between = SecondLevelState([Copy(0, 8192, 0)])
    between.begin(driver.memory, "interpreted")
    between.end(driver.memory)
    between.begin(Driver(FIXED).memory, "interpreted")
    assert not np.any(array_of(driver.memory.sets2))
    assert not np.any(array_of(driver.memory.buckets2))
