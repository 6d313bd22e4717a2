"""Loads through the read-only path: cached where plain loads bypass the first level (docs/reference/memory.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.sass.text import line, write_trace
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import compare, fast
from tests.timing.launches import FULL, Launched, recorded
from tests.timing.machine_files import machine_of
from tests.timing.memory.systems import CACHED, Driver, change
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg import gpu
from warpreg.sass.reader import read_recording
from warpreg.timing import memory as m
from warpreg.timing.feed.feed import feed
from warpreg.timing.feed.memory_sites import access_kinds

HIT = 10
SKIPPED = 1 + 5 + 20 + 5
"""A sector that the second level has, of a load that bypasses the first."""


def bypassed(caches_read_only: bool | None) -> Driver:
    return Driver(change(CACHED, l1={"skip_global": True, "caches_read_only": caches_read_only}))


@pytest.mark.parametrize(("caches", "cycles"), [(True, HIT), (False, SKIPPED), (None, SKIPPED)])
def test_a_read_only_load_hits_where_the_machine_caches_it(caches: bool | None, cycles: int) -> None:
    driver = bypassed(caches)
    driver.send(0, 0, sectors=1, kind=m.READ_ONLY)
    start = driver.when(0)
    driver.send(1, 0, sectors=1, kind=m.READ_ONLY)
    assert driver.when(1) == start + cycles
    assert (driver.count("l1_misses"), driver.count("l1_hits")) == ((1, 1) if caches else (0, 0))


def test_a_plain_load_of_a_cached_sector_still_bypasses_the_cache() -> None:
    driver = bypassed(True)
    driver.send(0, 0, sectors=1, kind=m.READ_ONLY)
    start = driver.when(0)
    driver.send(1, 0, sectors=1)
    assert driver.when(1) == start + SKIPPED


def test_a_cache_of_all_global_loads_takes_both_kinds_alike() -> None:
    driver = Driver(CACHED)
    driver.send(0, 0, sectors=1)
    start = driver.when(0)
    driver.send(1, 0, sectors=1, kind=m.READ_ONLY)
    assert driver.when(1) == start + HIT


def test_a_store_evicts_what_the_read_only_path_has_brought() -> None:
    driver = bypassed(True)
    driver.send(0, 0, sectors=1, kind=m.READ_ONLY)
    driver.when(0)
    driver.send(1, 0, sectors=1, kind=m.STORE)
    driver.when(1)
    driver.send(2, 0, sectors=1, kind=m.READ_ONLY)
    driver.when(2)
    assert driver.count("l1_hits") == 0


def test_of_ptx_the_modifier_nc_tells() -> None:
    opcodes = "ld.global.nc.u32", "ld.global.u32", "ld.global.nc.L1::no_allocate.u32"
    kernel = code("\n".join(f"{opcode} R0, [R4.64]" for opcode in opcodes))
    assert access_kinds(kernel).tolist() == [m.READ_ONLY, m.LOAD, m.READ_ONLY]


def of_trace(folder: Path, *opcodes: str) -> Launched:
    """Loads of one line, each with the address that the one before has loaded."""
    lines = [line(0x10 * pc, f"R4 <- {opcode} R4", memory="4 1 0x1000 4") for pc, opcode in enumerate(opcodes)]
    (launch,) = read_recording(write_trace(folder, [[[*lines, line(0x100, "EXIT")]]])).launches
    return recorded(launch.kernel, feed(launch.trace, launch.kernel))


def test_of_sass_the_modifiers_constant_and_ci_tell(tmp_path: Path) -> None:
    launched = of_trace(tmp_path, "LDG.E.CONSTANT", "LDG.E.CI", "LDG.E.CONSTANT.SYS", "LDG.E.SYS")
    assert access_kinds(launched.kernel).tolist() == [m.READ_ONLY] * 3 + [m.LOAD, 0]


def cycles(launched: Launched, caches: bool) -> int:
    """Cycles of a launch on both cores."""
    sm, system = Sm(), change(CACHED, l1={"skip_global": True, "caches_read_only": caches})
    machine = replace(machine_of(sm), memory=system)
    slow = timed(launched, sm, PackageMemory(machine, 1), 1, 8)
    compare(slow, fast(launched, machine, 1, 8))
    return slow.cycles


def of_ptx(*opcodes: str) -> Launched:
    access = Access(FULL, "global", 0, ((0x1000, 15),))
    return one_warp("\n".join(f"{opcode} R4, [R4.64]" for opcode in opcodes), *[access] * len(opcodes))


@pytest.mark.parametrize("is_sass", [False, True])
def test_the_second_of_two_dependent_loads_hits(tmp_path: Path, is_sass: bool) -> None:
    """The first takes 10 - 1 cycles more on its way through the cache; the second takes 10 instead of what a line takes
    from the second level: 4 packets a way, and four cycles of the slice that overlap with them."""
    plain, read_only = ("LDG.E", "LDG.E.CONSTANT") if is_sass else ("ld.global.u32", "ld.global.nc.u32")

    def run(opcode: str, caches: bool) -> int:
        return cycles(of_trace(tmp_path, opcode, opcode) if is_sass else of_ptx(opcode, opcode), caches)

    assert run(read_only, caches=False) == run(plain, caches=True)
    line_from_second_level = SKIPPED + 3 + 3
    assert run(plain, caches=True) - run(read_only, caches=True) == line_from_second_level - HIT - (HIT - 1)


def test_the_machines_say_what_their_configurations_do() -> None:
    found = {}
    for name in ("titanx", "larf-gp102", "bow-titanx", "gtx980", "larf-gtx480-uncached"):
        cache = gpu.load(name).memory.l1
        assert cache is not None
        assert cache.skip_global
        found[name] = bool(cache.caches_read_only)
    assert found == {
        "titanx": True, "larf-gp102": True, "bow-titanx": True, "gtx980": False, "larf-gtx480-uncached": False,
    }  # fmt: skip
