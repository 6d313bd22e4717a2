"""Loads that must see what other SMs have written pass the first level (docs/reference/memory.md)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.timing.assembly import code
from tests.timing.memory.systems import CACHED, Driver

from warpreg.gpu import Machine, load
from warpreg.timing import memory as m
from warpreg.timing.feed.kernel_table import kinds_on
from warpreg.timing.feed.memory_sites import access_kinds

HIT = 10
PASSED = 10 + 5 + 20 + 5
"""Latencies of both levels and the network twice, in the machine of these tests."""


def test_an_ordered_load_comes_from_the_second_level() -> None:
    """The first level has the sector, takes no part, and keeps it."""
    driver = Driver(CACHED)
    driver.send(0, 0, sectors=1)
    start = driver.when(0)
    driver.send(1, 0, sectors=1, kind=m.ORDERED)
    second = driver.when(1)
    assert second == start + PASSED
    driver.send(2, 0, sectors=1)
    assert driver.when(2) == second + HIT
    assert (driver.count("l1_misses"), driver.count("l1_hits")) == (1, 1)


PTX = {
    "ld.volatile.global.u32": m.ORDERED, "ld.relaxed.gpu.global.u32": m.ORDERED, "ld.acquire.sys.global.u32": m.ORDERED,
    "ld.global.cg.u32": m.ORDERED, "ld.global.cv.u32": m.ORDERED, "ld.relaxed.cta.global.u32": m.LOAD,
    "ld.global.ca.u32": m.LOAD, "ld.volatile.shared.u32": m.LOAD, "ld.global.nc.u32": m.READ_ONLY,
}  # fmt: skip


def test_scope_and_cache_operator_say_which_loads_are_ordered() -> None:
    kernel = code("\n".join(f"{opcode} R0, [R4.64]" for opcode in PTX))
    assert access_kinds(kernel).tolist() == list(PTX.values())


@pytest.mark.parametrize(("skips", "kind"), [(True, m.ORDERED), (False, m.LOAD), (None, m.LOAD)])
def test_only_a_machine_that_says_so_has_ordered_loads(skips: bool | None, kind: int) -> None:
    kernel = code("ld.volatile.global.u32 R0, [R4.64]")
    assert kinds_on(kernel, _with(skips)).tolist() == [kind]


def _with(skips: bool | None) -> Machine:
    machine = load("v100")
    assert machine.memory.l1 is not None
    return replace(machine, memory=replace(machine.memory, l1=replace(machine.memory.l1, skip_ordered=skips)))
