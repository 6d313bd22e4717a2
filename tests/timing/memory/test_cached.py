"""The cached model: hits, misses, latencies and bandwidths derived by hand.

Parameters of the system in `systems`: a first level of 4 sets x 2 ways, 10 cycles; a network of 5 cycles in each
direction, one packet per sector; slices of 4 sets x 4 ways, 20 cycles, one sector per cycle; DRAM of 100 cycles, 12 to
open a row and 12 to read it, and 2 cycles of its bus per sector.
"""

from __future__ import annotations

import pytest
from tests.timing.memory.systems import CACHED, CONTENTION, Driver, change

from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory as m
from warpreg.timing.core.access_record import LOCAL_BASE

L2_HIT = 10 + 5 + 20 + 5
"""A sector: through the first level, to the slice, its look-up, and back."""
DRAM = 10 + 5 + 20 + 2 + 124 + 5


def test_a_sector_that_misses_both_levels_comes_from_dram() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1)
    assert driver.when(1) == DRAM
    assert (driver.count("l1_misses"), driver.count("l2_misses"), driver.count("dram_reads")) == (1, 1, 1)


def test_a_sector_that_was_fetched_hits_the_first_level() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1)
    driver.when(1)
    start = driver.now
    driver.send(2, 0, sectors=1)
    assert driver.when(2) == start + 10
    assert driver.count("l1_hits") == 1


def test_another_sector_of_the_line_is_fetched_by_itself() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1)
    driver.when(1)
    driver.send(2, 0, sectors=2)
    driver.when(2)
    assert (driver.count("l1_misses"), driver.count("dram_reads")) == (2, 2)


@pytest.mark.parametrize("system", [CACHED, CONTENTION])
@pytest.mark.parametrize(("fetched", "expected"), [(None, "dddd"), (32, "dddd"), (64, "d2d2"), (128, "d222")])
def test_a_missing_sector_brings_its_neighbours_to_the_second_level(
    system: MemorySystem, fetched: int | None, expected: str
) -> None:
    """Sectors 0 to 3 of a line one after the other: each comes from DRAM, or finds that an earlier one has brought it.
    The neighbours are read from DRAM once, and not sent to the SM.
    """
    driver = Driver(change(system, l2={"fetch_bytes": fetched}))
    for sector in range(4):
        driver.send(sector, 0, sectors=1 << sector)
        driver.when(sector)
    assert driver.count("dram_reads") == 4
    assert driver.count("l2_hits") == expected.count("2")
    assert driver.count("l1_misses") == 4


def test_only_sectors_that_are_missing_are_fetched_with_a_sector() -> None:
    """Sector 0 was written; sector 1 misses, and sector 2, on its way with 3, is in another pair."""
    driver = Driver(change(CACHED, l2={"fetch_bytes": 64}))
    driver.send(1, 0, sectors=1, kind=m.STORE)
    driver.send(2, 0, sectors=4)
    driver.send(3, 0, sectors=2)
    assert driver.when(3) > driver.when(2)
    assert driver.count("dram_reads") == 3


def test_the_pair_of_a_sector_takes_the_bus_of_dram_too() -> None:
    """Its sector is answered when both have been moved: two cycles later."""
    driver = Driver(change(CACHED, l2={"fetch_bytes": 64}))
    driver.send(1, 0, sectors=1)
    assert driver.when(1) == DRAM + 2


def test_another_sms_sector_hits_the_second_level() -> None:
    driver = Driver(CACHED, sms=2)
    driver.send(1, 0, sectors=1)
    driver.when(1)
    start = driver.now
    driver.send(2, 0, sectors=1, sm=1)
    assert driver.when(2) == start + L2_HIT
    assert driver.count("l2_hits") == 1


def test_a_line_takes_four_packets_each_way() -> None:
    # Request: its fourth packet leaves in cycle 13, so it arrives at 18; the slice answers at 38, DRAM has moved four
    # sectors at 46 and answers at 170; the fourth packet of the reply leaves in cycle 173 and arrives at 178.
    driver = Driver(CACHED)
    driver.send(1, 0)
    assert driver.when(1) == 178


def test_loads_of_a_sector_under_way_wait_for_it_together() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1)
    driver.to(50)
    driver.send(2, 0, sectors=1)
    assert (driver.when(1), driver.when(2)) == (DRAM, DRAM)
    assert driver.count("dram_reads") == 1


def test_two_sms_that_want_one_sector_ask_dram_once() -> None:
    driver = Driver(CACHED, sms=2)
    driver.send(1, 0, sectors=1, sm=0)
    driver.send(2, 0, sectors=1, sm=1)
    # Both answers leave one after the other through the slice's port.
    assert (driver.when(1), driver.when(2)) == (DRAM, DRAM + 1)
    assert driver.count("dram_reads") == 1


def test_the_least_recently_used_line_of_a_set_goes() -> None:
    # Lines 0, 5 and 10 fold into set 0 of 4 (5 = 01 01, 10 = 10 10); 0 is touched again before 10 comes.
    driver = Driver(CACHED)
    for ticket, line in enumerate((0, 5, 0, 10, 0, 5)):
        driver.send(ticket, 128 * line, sectors=1)
        driver.when(ticket)
    assert driver.count("l1_hits") == 2  # line 0 twice; 5 has gone
    assert driver.count("l1_misses") == 4


def test_a_store_is_acknowledged_by_the_second_level_and_leaves_dirty_sectors() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1, kind=m.STORE)
    assert driver.when(1) == L2_HIT
    assert driver.count("dram_writes") == 0
    # Eight other lines of the same set of slice 0 (4 ways) push it out.
    for ticket in range(2, 60):
        driver.send(ticket, 128 * ticket, sectors=1)
        driver.when(ticket)
    assert driver.count("dram_writes") == 1


def test_a_store_evicts_its_sectors_from_the_first_level_or_updates_them() -> None:
    for write, hits in (("evict", 0), ("through", 1)):
        driver = Driver(change(CACHED, l1={"write": write}))
        driver.send(1, 0, sectors=1)
        driver.when(1)
        driver.send(2, 0, sectors=1, kind=m.STORE)
        driver.when(2)
        driver.send(3, 0, sectors=1)
        driver.when(3)
        assert driver.count("l1_hits") == hits


def test_atomics_pass_the_first_level_by_and_fetch_their_sector() -> None:
    driver = Driver(CACHED)
    driver.send(1, 0, sectors=1, kind=m.ATOMIC)
    assert driver.when(1) == DRAM
    start = driver.now
    driver.send(2, 0, sectors=1, kind=m.ATOMIC)
    assert driver.when(2) == start + L2_HIT
    assert driver.count("l1_hits") + driver.count("l1_misses") == 0


def test_atomics_that_wait_for_one_sector_come_back_once_each() -> None:
    """They are chained to the line in the second level; the SM's port gives one answer a cycle."""
    driver = Driver(CACHED)
    for ticket in range(3):
        driver.send(ticket, 0, sectors=1, kind=m.ATOMIC)
    first = driver.when(0)
    assert [driver.when(ticket) for ticket in range(3)] == [first, first + 1, first + 2]


def test_global_loads_may_skip_the_first_level_but_textures_do_not() -> None:
    driver = Driver(change(CACHED, l1={"skip_global": True}))
    driver.send(1, 0, sectors=1)
    assert driver.when(1) == DRAM - 10 + 1
    driver.send(2, 0, sectors=1, kind=m.TEXTURE)
    driver.when(2)
    assert driver.count("l1_misses") == 1


def test_a_cache_without_free_miss_lines_takes_nothing_until_one_returns() -> None:
    driver = Driver(change(CACHED, l1={"miss_lines": 1}))
    driver.send(1, 0, sectors=1)
    driver.send(2, 128, sectors=1)  # waits in front of the cache
    driver.to(2)
    assert not driver.accepts()
    driver.when(1)
    assert driver.now == DRAM
    assert driver.accepts()
    assert driver.when(2) == DRAM + DRAM
    assert driver.count("blocks") == 1


def test_a_stream_is_bound_by_the_dram_bus() -> None:
    # 64 lines of 4 sectors, 2 cycles each: 512 cycles of the bus; everything else overlaps.
    driver = Driver(change(CACHED, l1={"miss_lines": 64, "bytes": 16384}))
    for ticket in range(64):
        driver.send(ticket, 128 * (ticket + 100))
    last = max(driver.when(ticket) for ticket in range(64))
    first = 10 + 5 + 3 + 20
    assert last in range(first + 512 + 124, first + 512 + 124 + 20)


def test_an_unsectored_machine_fetches_lines_in_one_packet() -> None:
    # Request of one flit; DRAM moves four sectors (8 cycles); a reply of 136 bytes takes four flits of 40.
    driver = Driver(change(CACHED, memory={"segment_bytes": 128}, l2={"sectors_per_cycle": 4}))
    driver.send(1, 0, sectors=1)
    assert driver.when(1) == 10 + 5 + 20 + 8 + 124 + 3 + 5
    driver.send(2, 0, sectors=8)
    driver.when(2)
    assert driver.count("l1_hits") == 1


def test_a_high_global_address_is_not_taken_for_local_memory() -> None:
    driver = Driver(change(CACHED, l1={"skip_global": True}))
    driver.send(1, 0x1_7F00_0000_0000, sectors=1)
    driver.when(1)
    assert driver.count("l1_misses") == 0
    driver.send(2, LOCAL_BASE, sectors=1)
    driver.when(2)
    assert driver.count("l1_misses") == 1
