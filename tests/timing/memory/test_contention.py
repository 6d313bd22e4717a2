"""The contention model: what it shares with the cached model, and the effect of its queues."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.timing.memory.systems import CACHED, CONTENTION, MESH, Driver, change

from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory as m
from warpreg.timing.memory import second_level


@pytest.mark.parametrize("kind", [m.LOAD, m.STORE, m.ATOMIC])
def test_alone_a_transaction_takes_as_long_as_in_the_cached_model(kind: int) -> None:
    times = []
    for system in (CACHED, CONTENTION):
        driver = Driver(system, sms=2)
        driver.send(1, 0, sectors=1, kind=kind)
        first = driver.when(1)
        driver.send(2, 0, sectors=1, kind=kind, sm=1)
        times.append((first, driver.when(2)))
    assert times[0] == times[1]


def test_in_a_mesh_distance_costs_time() -> None:
    # 4 SMs and 2 slices in 3 columns: SM 0 at (0, 0), SM 3 at (0, 1), slice 0 at (1, 1). Hits of the second level:
    # 10 + 1 to enter, 2 a hop, 1 out, 20 in the slice, and the same way back.
    driver = Driver(MESH, sms=4)
    driver.send(0, 0, sectors=1, sm=1)
    driver.when(0)
    times = []
    for sm, hops in ((0, 2), (3, 1)):
        start = driver.now
        driver.send(1 + sm, 0, sectors=1, sm=sm)
        times.append((driver.when(1 + sm) - start, 10 + 1 + 2 * hops + 1 + 20 + 1 + 2 * hops + 1))
    assert all(found == expected for found, expected in times), times


def hit_in(system: MemorySystem, sm: int) -> int:
    """Cycles of a hit of the second level in slice 0."""
    driver = Driver(system, sms=4)
    driver.send(0, 0, sectors=1, sm=3 - sm)
    driver.when(0)
    start = driver.now
    driver.send(1, 0, sectors=1, sm=sm)
    return driver.when(1) - start


def test_slices_can_be_at_other_routers_of_a_mesh() -> None:
    """As above, with slice 0 at (0, 0) and slice 1 at (2, 1): SMs 0 to 3 are at (1, 0), (2, 0), (0, 1) and (1, 1), 1,
    2, 1 and 2 hops away.
    """
    system = change(MESH, network={"slice_routers": (0, 5)})
    assert [hit_in(system, sm) for sm in range(4)] == [10 + 1 + 2 * n + 1 + 20 + 1 + 2 * n + 1 for n in (1, 2, 1, 2)]


@pytest.mark.parametrize(("each", "flits"), [(1, 12), (2, 6), (4, 4)])
def test_a_link_of_a_mesh_moves_several_flits_in_a_cycle(each: int, flits: int) -> None:
    """Stores of four sectors have 8 + 128 bytes, 12 flits of 12 bytes: 12, 6 or 3 cycles.  Two SMs in a row send
    through the same links to slice 0, the nearer one first.  The other one follows when that has passed, and the slice
    has looked up its sectors in 4 cycles; its acknowledgement has a hop of 2 cycles more.
    """
    network = {"slice_routers": (2, 3), "flits_per_cycle": each, "flit_bytes": 12, "packet": "line"}
    driver = Driver(change(MESH, network=network), sms=4)
    for sm in (0, 1):
        driver.send(sm, 0, kind=m.STORE, sm=sm)
    assert driver.when(0) - driver.when(1) == flits + 2


def test_links_of_a_mesh_keep_parts_of_a_cycle() -> None:
    """Five flits at four a cycle take 1.25 cycles.  Packets leave in whole cycles, so that nine of them take 8 x 1.25 =
    10 cycles from the first to the last, and not 16.
    """
    network = {"slice_routers": (2, 3), "flits_per_cycle": 4, "flit_bytes": 8, "packet": "line", "queue": 64}
    driver = Driver(change(MESH, network=network, l2={"queue": 64}), sms=4)
    for line, ticket in zip(lines_of(driver, 0), range(9), strict=False):
        driver.send(ticket, line, sectors=1, kind=m.STORE, sm=1)
    assert driver.when(8) - driver.when(0) == 10


@pytest.mark.parametrize(("packet", "more"), [("sector", 3 + 3), ("line", 0 + 2)])
def test_an_answer_is_one_packet_or_one_of_each_sector(packet: str, more: int) -> None:
    """Flits of 48 bytes, and a line that is in the second level.  Of one sector, request and answer have one flit: 10 +
    5 + 20 + 5 cycles.  Of all four, packets of sectors have four each; a packet of a line has one and three.
    """
    driver = Driver(change(CONTENTION, network={"flit_bytes": 48, "packet": packet}), sms=3)
    driver.send(0, 0)
    driver.when(0)
    for ticket, sectors, expected in ((1, 1, 40), (2, 15, 40 + more)):
        start = driver.now
        driver.send(ticket, 0, sectors=sectors, sm=ticket)
        assert driver.when(ticket) - start == expected


def test_two_sms_that_want_one_slice_take_turns() -> None:
    driver = Driver(CONTENTION, sms=2)
    for sm in range(2):
        driver.send(sm, 0, sectors=1, kind=m.STORE, sm=sm)
    assert sorted((driver.when(0), driver.when(1))) == [40, 41]


def lines_of(driver: Driver, which: int) -> Iterator[int]:
    """Addresses of lines that belong to a slice."""
    return (line for line in range(0, 1 << 20, 128) if second_level.slice_of(driver.memory, line) == which)


def full(system: MemorySystem, sends: int) -> int:
    """How many stores to one slice an SM gets rid of before it is held up."""
    driver = Driver(system)
    for ticket, line in zip(range(sends), lines_of(driver, 0), strict=False):
        if not driver.accepts():
            return ticket
        driver.send(ticket, line, kind=m.STORE)
        driver.to(driver.now + 1)
    return sends


def test_full_queues_hold_up_the_sm() -> None:
    # A store of a line takes 4 cycles of the port, so a stream of one a cycle fills the queue of 4; one more waits in
    # front of the cache. While the first is on its way through the cache (10 cycles), nothing leaves the queue.
    assert full(CONTENTION, 60) == 5
    assert full(change(CONTENTION, network={"queue": 100}), 60) == 60


def test_a_packet_that_waits_holds_up_others_unless_they_have_a_virtual_channel() -> None:
    # Both SMs have stores of four packets for slice 0, which takes one in four cycles, so SM 0 is rid of its five after
    # 36 cycles; a load from slice 1 behind them need not wait for all that if it has a queue of its own.
    times = []
    for channels in (1, 2):
        driver = Driver(change(CONTENTION, network={"virtual_channels": channels, "queue": 64}), sms=2)
        lines = lines_of(driver, 0)
        for ticket in range(5):
            driver.send(2 * ticket, next(lines), kind=m.STORE, sm=0)
            driver.send(2 * ticket + 1, next(lines), kind=m.STORE, sm=1)
            driver.to(driver.now + 1)
        start = driver.now
        driver.send(100, next(lines_of(driver, 1)), sectors=1, sm=0)
        times.append(driver.when(100) - start)
    assert times[0] - times[1] >= 20


def test_idle_cycles_need_no_steps() -> None:
    driver = Driver(CONTENTION)
    driver.send(1, 0, sectors=1)
    steps, now = 0, 0
    while 1 not in driver.back:
        steps += 1
        now = int(min(driver.ask.next_event(driver.memory, now + 1), driver.ask.next_return(driver.memory, 0)))
        driver.to(now)
    assert steps < 15  # of 166 cycles


@pytest.mark.parametrize(("spread", "even"), [("consecutive", True), ("folded", True), ("random", False)])
def test_lines_spread_over_all_slices(spread: str, even: bool) -> None:
    memory = Driver(change(CACHED, l2={"slices": 8, "spread": spread, "interleave_bytes": 128})).memory
    counts = [0] * 8
    for line in range(512):
        counts[second_level.slice_of(memory, 128 * line)] += 1
    assert (set(counts) == {64}) == even
    assert min(counts) > 40


@pytest.mark.parametrize(("merged", "hits"), [(None, 0), (2, 0), (1, 1)])
def test_a_slice_stands_while_a_missing_sector_has_as_many_requests_as_may_wait(merged: int | None, hits: int) -> None:
    # Where one request may wait, the second one for the sector stays at the head of its slice's queue until DRAM has
    # answered the first, is looked up in that cycle and finds the sector; the third, to another line, stands behind it.
    driver = Driver(change(CONTENTION, l2={"merged": merged}), sms=3)
    ours = lines_of(driver, 0)
    shared, other = next(ours), next(ours)
    for sm, line in enumerate((shared, shared, other)):
        driver.send(sm, line, sectors=1, sm=sm)
        driver.to(driver.now + 1)
    first, second, third = (driver.when(sm) for sm in range(3))
    assert driver.count("l2_hits") == hits
    assert second == first + 1
    assert (third > first + 100) == (merged == 1)
