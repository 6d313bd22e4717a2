"""A miss register merges a limited number of requests (docs/reference/memory.md), derived by hand.

The systems are those of `systems`: a sector that misses both levels of `CACHED` is back 166 cycles after it was sent,
and a hit takes 10.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing.assembly import warps
from tests.timing.both_cores import compare, fast
from tests.timing.launches import FULL
from tests.timing.machine_files import machine_of
from tests.timing.memory.systems import CACHED, CONTENTION, Driver, change
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg.timing import memory as m
from warpreg.timing.memory import tags
from warpreg.timing.memory.memory_columns import cache_lines, nodes

DRAM = 10 + 5 + 20 + 2 + 124 + 5
HIT = 10
LIMITED = change(CACHED, l1={"merged": 8})


def sent(driver: Driver, *sectors: int, line: int = 0) -> None:
    """Loads of these sectors of a line, one a cycle; each has its number as ticket."""
    for ticket, one in enumerate(sectors):
        driver.send(ticket, line, sectors=one)


def test_eight_loads_of_a_sector_under_way_come_back_with_it() -> None:
    driver = Driver(LIMITED)
    sent(driver, *[1] * 8)
    assert [driver.when(ticket) for ticket in range(8)] == [DRAM] * 8
    assert (driver.count("blocks"), driver.count("l1_misses"), driver.count("dram_reads")) == (0, 8, 1)


def test_the_ninth_load_waits_in_front_of_the_cache_until_the_sector_is_there() -> None:
    """It is looked up in the cycle in which the sector arrives, and hits."""
    driver = Driver(LIMITED)
    sent(driver, *[1] * 9)
    driver.to(driver.now + 1)
    assert not driver.accepts()
    assert [driver.when(ticket) for ticket in range(9)] == [DRAM] * 8 + [DRAM + HIT]
    assert (driver.count("blocks"), driver.count("l1_misses"), driver.count("l1_hits")) == (1, 8, 1)


def test_without_a_limit_any_number_of_loads_comes_back_with_the_sector() -> None:
    driver = Driver(CACHED)
    sent(driver, *[1] * 40)
    assert {driver.when(ticket) for ticket in range(40)} == {DRAM}


def test_each_sector_has_its_own_requests() -> None:
    """Two loads wait for each of two sectors; the fifth may wait for a third sector, the sixth for none of these."""
    driver = Driver(change(CACHED, l1={"merged": 2}))
    sent(driver, 1, 1, 2, 2, 4)
    assert driver.count("blocks") == 0
    driver.send(5, 0, sectors=2)
    assert driver.count("blocks") == 1
    # Sector 0 is sent in cycle 0, sector 1 in cycle 2, when DRAM's bus is free; then the last load hits.
    assert [driver.when(ticket) for ticket in (0, 2, 5)] == [DRAM, DRAM + 2, DRAM + 2 + HIT]


def test_a_load_of_several_sectors_waits_if_one_of_them_has_its_requests() -> None:
    """It requests the sector that is missing, too, only when it proceeds: at the arrival of the other one."""
    driver = Driver(change(CACHED, l1={"merged": 1}))
    sent(driver, 1, 3)
    assert driver.count("dram_reads") == 0
    assert (driver.when(0), driver.when(1)) == (DRAM, DRAM + DRAM)


def test_a_machine_without_sectors_counts_lines() -> None:
    """Each load fetches the whole line, so two loads of different words are requests for the same."""
    driver = Driver(change(CACHED, memory={"segment_bytes": 128}, l1={"merged": 1}))
    sent(driver, 1, 8)
    assert driver.count("blocks") == 1
    assert driver.when(1) == driver.when(0) + HIT


def test_loads_that_bypass_the_cache_do_not_merge_in_it() -> None:
    driver = Driver(change(CACHED, l1={"merged": 1, "skip_global": True}))
    sent(driver, 1, 1, 1)
    assert driver.count("blocks") == 0


def test_a_slice_counts_each_sector_by_itself() -> None:
    """Two may wait: one does for each of two sectors, so that a load of both is the second for either."""
    driver = Driver(change(CONTENTION, l2={"merged": 2}), sms=3)
    for sm, sectors in enumerate((1, 2, 3)):
        driver.send(sm, 0, sectors=sectors, sm=sm)
        driver.to(driver.now + 1)
    for sm in range(3):
        driver.when(sm)
    assert (driver.count("l2_misses"), driver.count("l2_hits")) == (3, 0)


@pytest.mark.parametrize(("count", "merged"), [(9, 9), (9, 8), (12, 4)])
def test_both_cores_hold_the_loads_of_more_warps_than_merge(count: int, merged: int) -> None:
    """Warps load the same sector.  The first without a place in the register and the one behind it hit in the cycle in
    which the sector arrives, each further one a cycle later.
    """
    access = Access(FULL, "global", 0, ((0, 1),))
    launched, sm = warps("ld.global.u32 R4, [R4.64]", *[[(access,)]] * count), Sm(slots=16)

    def cycles(limit: int | None) -> int:
        machine = replace(machine_of(sm), memory=change(CACHED, l1={"merged": limit}))
        slow = timed(launched, sm, PackageMemory(machine, 1), 1, 8)
        compare(slow, fast(launched, machine, 1, 8))
        return slow.cycles

    late = count - merged
    assert cycles(merged) - cycles(None) == (HIT + max(0, late - 2) if late else 0)


@given(st.lists(st.integers(1, 15), max_size=40), st.integers(0, 15), st.integers(0, 15), st.integers(1, 15), st.data())
def test_sectors_are_counted_as_one_by_one(
    waiting: list[int], valid: int, pending: int, need: int, data: st.DataObject
) -> None:
    room = data.draw(st.integers(1, 12) | st.just(m.NEVER))
    memory = m.build(CACHED, 1, 1000.0, 100, 150)
    lines, chained = memory.lines1, memory.nodes
    lines[0, cache_lines.BITS] = valid | pending << cache_lines.PENDING_SHIFT | 15 << cache_lines.DIRTY_SHIFT
    lines[0, cache_lines.CHAIN] = m.NONE
    for row, needed in enumerate(waiting):
        chained[row, nodes.NEED] = needed
        tags.chain(lines, chained, 0, row)
    sought = [bit for bit in (1, 2, 4, 8) if need & pending & ~valid & bit]
    expected = any(sum(needed & bit != 0 for needed in waiting) >= room for bit in sought)
    assert tags.is_crowded(lines, chained, 0, need, room) == expected
