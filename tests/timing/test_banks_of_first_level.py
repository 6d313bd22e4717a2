"""A first-level cache with banks looks up transactions of one instruction together (docs/reference/memory.md)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.timing.assembly import one_warp
from tests.timing.both_cores import compare, fast
from tests.timing.launches import FULL
from tests.timing.machine_files import machine_of
from tests.timing.memory.systems import CACHED, Driver, change
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

LOADS = """
ld.global.u32 R4, [R4.64]
ld.global.u32 R4, [R4.64]
"""


def cycles(banks: int, sectors: tuple[int, ...]) -> int:
    """Two loads of these sectors of different lines, of which the second depends on the first and hits."""
    access = Access(FULL, "global", 0, tuple((128 * line, one) for line, one in enumerate(sectors)))
    launched, sm = one_warp(LOADS, access, access), Sm()
    system = change(CACHED, l1={"banks": banks, "bytes": 4096, "miss_lines": 8})
    machine = replace(machine_of(sm), memory=system)
    slow = timed(launched, sm, PackageMemory(machine, 1), 1, 8)
    compare(slow, fast(launched, machine, 1, 8))
    return slow.cycles


@pytest.mark.parametrize(
    ("banks", "sectors", "turns"),
    [
        (4, (1, 2, 4, 8), 1),  # four banks, one each
        (4, (1, 1, 1, 1), 4),  # one bank
        (4, (1, 2, 2, 1), 2),  # the third waits; the fourth joins it
        (4, (3, 12, 15, 1), 3),  # halves of two lines join; a whole line takes all banks
        (2, (1, 2, 4, 8), 2),  # sectors 0 and 2 share a bank, as do 1 and 3
    ],
)
def test_transactions_with_different_banks_share_a_cycle(banks: int, sectors: tuple[int, ...], turns: int) -> None:
    """The first load misses; its packets leave one per cycle, however they were looked up.

    The second load hits; without banks, each of its transactions takes a cycle.
    """
    assert cycles(1, sectors) - cycles(banks, sectors) == len(sectors) - turns


def test_a_miss_register_may_hold_a_sector() -> None:
    """Four registers: two lines of two sectors fill them; a third one waits for the first."""
    driver = Driver(change(CACHED, l1={"bytes": 4096, "miss_lines": 4, "miss_sectors": 4}))
    for ticket in range(2):
        driver.send(ticket, 256 * ticket, sectors=3)
    driver.to(driver.now + 1)
    driver.send(2, 1024, sectors=1)
    assert driver.count("blocks") == 1
    assert driver.when(2) > driver.when(0)


def test_a_sector_under_way_needs_no_further_register() -> None:
    driver = Driver(change(CACHED, l1={"bytes": 4096, "miss_lines": 4, "miss_sectors": 4}))
    driver.send(0, 0, sectors=15)
    driver.send(1, 0, sectors=1)
    assert driver.count("blocks") == 0
    assert driver.when(0) >= driver.when(1)
