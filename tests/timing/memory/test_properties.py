"""Properties of every model on random traffic: each send returns once, and hits equal those of a naive cache."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.memory.systems import CACHED, CONTENTION, FIXED, MESH, Driver, change

from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory as m
from warpreg.timing.memory.memory_columns import cache_lines, cache_sets, channels, nodes, scalars, sms
from warpreg.timing.memory.traffic import Traffic, drive, measure

TINY = {"queue": 1}
SYSTEMS = [
    FIXED,
    CACHED,
    CONTENTION,
    MESH,
    change(CONTENTION, network=TINY, l2={"queue": 1, "miss_lines": 1}, dram={"queue": 2}),
    change(CONTENTION, l2={"merged": 1}),
    change(CONTENTION, l2={"fetch_bytes": 64, "merged": 2}),
    change(CACHED, l2={"fetch_bytes": 128}),
    change(MESH, network={"queue": 1, "virtual_channels": 2}, l2={"queue": 1}, dram={"queue": 2}),
    change(CONTENTION, memory={"segment_bytes": 128}, network={"virtual_channels": 2}),
    change(CACHED, memory={"segment_bytes": 128}),
    change(CACHED, l1={"miss_lines": 1}),
    change(CACHED, l1={"merged": 1}),
    change(CONTENTION, l1={"merged": 2}, l2={"merged": 1}),
    change(CACHED, l1={"merged": 1, "skip_global": True, "caches_read_only": True}),
]
sends = st.tuples(
    st.integers(0, 2),
    st.sampled_from([m.LOAD, m.LOAD, m.STORE, m.ATOMIC, m.TEXTURE, m.READ_ONLY]),
    st.integers(0, 40),
    st.integers(1, 15),
    st.integers(0, 9),
)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.sampled_from(SYSTEMS), st.lists(sends, max_size=40))
def test_each_transaction_comes_back_once_and_nothing_is_left(
    system: MemorySystem, traffic: list[tuple[int, int, int, int, int]]
) -> None:
    driver = Driver(system, sms=3)
    for ticket, (sm, kind, line, sectors, pause) in enumerate(traffic):
        driver.to(driver.now + pause)
        driver.send(ticket, 128 * line, sectors, kind, sm)
    for ticket in range(len(traffic)):
        driver.when(ticket)
    driver.to(driver.now + 300)
    memory = driver.memory
    assert driver.count("sent") == driver.count("returned") == len(traffic)
    for sm in range(len(memory.sms)):
        assert memory.sms[sm, sms.UNDER_WAY] == memory.sms[sm, sms.MISSES] == memory.sms[sm, sms.RETURNS] == 0
    assert memory.scalars[scalars.EVENTS] == memory.scalars[scalars.IN_DAYS] == memory.scalars[scalars.QUEUED] == 0
    assert not any(memory.channels[channel, channels.BURSTS] for channel in range(len(memory.channels)))
    for lines, sets in ((memory.lines1, memory.sets1), (memory.lines2, memory.sets2)):
        ways = len(lines) // len(sets)
        used = (line for line in range(len(lines)) if line % ways < sets[line // ways, cache_sets.USED])
        waits = cache_lines.PENDING | -1 << cache_lines.CHAINED_SHIFT
        assert not any(lines[line, cache_lines.BITS] & waits for line in used)
    assert free_nodes(memory) == len(memory.nodes)


def free_nodes(memory: m.Memory) -> int:
    node = int(memory.scalars[scalars.FREE_NODE])
    count = len(memory.nodes) - int(memory.scalars[scalars.FRESH_NODE])
    while node != m.NONE:
        count, node = count + 1, int(memory.nodes[node, nodes.NEXT])
    return count


class NaiveCache:
    """Sectored LRU sets as dictionaries from line to its valid sectors, the oldest first."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets: list[OrderedDict[int, int]] = [OrderedDict() for _ in range(sets)]
        self.ways = ways

    def load(self, line: int, sectors: int) -> bool:
        bits = len(self.sets).bit_length() - 1
        chosen = self.sets[(line ^ line >> bits ^ line >> 2 * bits) % len(self.sets)]
        hit = chosen.get(line, 0) & sectors == sectors
        valid = chosen.pop(line, 0) | sectors
        if len(chosen) == self.ways:
            chosen.popitem(last=False)
        chosen[line] = valid
        return hit


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 15)), max_size=80))
def test_hits_are_those_of_a_naive_cache(loads: list[tuple[int, int]]) -> None:
    driver, naive, hits = Driver(CACHED), NaiveCache(sets=4, ways=2), 0
    for ticket, (line, sectors) in enumerate(loads):
        driver.send(ticket, 128 * line, sectors)
        driver.when(ticket)
        hits += naive.load(line, sectors)
    assert driver.count("l1_hits") == hits


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS[:4])
def test_compiled_functions_do_what_the_plain_ones_do(system: MemorySystem) -> None:
    traffic = Traffic(streams=3, footprint=64, gap=2, sectors=7)
    one = m.build(system, 2, 1000.0, 100, 150)
    copies: Any = [np.copy(np.asarray(array)) for array in one]
    other = m.Memory(*copies)
    found = measure(one, traffic, cycles=800)
    streams, results = np.zeros((6, 3), np.int64), np.zeros(2, np.int64)
    drive(other, streams, np.array([800, 2, 64, 7, 0, 3, 0, 1]), results, 0)
    assert results[1] == found.loads > 0
    for compiled, plain in zip(one, other, strict=True):
        assert np.array_equal(np.asarray(compiled), np.asarray(plain))
