"""The fixed model: latency and the port's bandwidth."""

from __future__ import annotations

from tests.timing.memory.systems import FIXED, Driver, change

from warpreg.timing import memory as m


def test_a_load_is_back_after_the_latency() -> None:
    driver = Driver(FIXED, latency=400)
    driver.to(7)
    driver.send(1, line=0)
    assert driver.when(1) == 407


def test_the_port_moves_a_sector_a_cycle() -> None:
    # 32 bytes a cycle: four sectors take four cycles, one takes one.
    driver = Driver(FIXED)
    driver.send(1, 0, sectors=15)
    assert not driver.accepts()
    driver.send(2, 128, sectors=1)
    assert driver.now == 4
    driver.send(3, 256, sectors=3)
    assert driver.now == 5
    assert [driver.when(t) for t in (1, 2, 3)] == [100, 104, 105]


def test_a_bandwidth_that_does_not_divide_a_sector() -> None:
    # 48 bytes a cycle: a line takes 2 2/3 cycles, so a stream begins lines at 0, 2 2/3, 5 1/3, 8.
    driver = Driver(change(FIXED, memory={"bytes_per_cycle": 48.0}))
    starts = []
    for ticket in range(4):
        driver.send(ticket, 128 * ticket)
        starts.append(driver.now)
    assert starts == [0, 2, 5, 8]
    assert driver.when(3) == 108


def test_segments_of_a_line_are_fetched_whole_by_loads_only() -> None:
    driver = Driver(change(FIXED, memory={"segment_bytes": 128}))
    driver.send(1, 0, sectors=1)
    driver.send(2, 128, sectors=1, kind=m.STORE)
    driver.send(3, 256)
    assert driver.now == 5
    assert driver.when(2) == 104


def test_textures_have_a_latency_of_their_own() -> None:
    driver = Driver(FIXED, texture_latency=33)
    driver.send(1, 0, kind=m.TEXTURE)
    assert driver.when(1) == 33


def test_each_sm_has_its_own_port() -> None:
    driver = Driver(FIXED, sms=2)
    driver.send(1, 0, sm=0)
    assert driver.accepts(sm=1)


def test_an_sm_with_all_its_transactions_under_way_is_refused() -> None:
    driver = Driver(change(FIXED, memory={"outstanding": 2}))
    driver.send(1, 0, sectors=1)
    driver.send(2, 0, sectors=1)
    driver.to(50)
    assert not driver.accepts()
    assert driver.ask.retry(driver.memory, 0, driver.now) == 100
    driver.send(3, 0, sectors=1)
    assert driver.now == 100
