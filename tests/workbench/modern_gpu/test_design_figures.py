"""What the study of a modern GPU says of designs, on rows made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from warpreg_workbench.modern_gpu.all_warps import FEW, grown, with_all_warps
from warpreg_workbench.modern_gpu.design_figures import CASES, Case, accesses, figures, ranking, turned_by
from warpreg_workbench.modern_gpu.study import COLLECTORS, OWN_CODE, WINDOW, DesignMeasurement, Side

COMMON = "common-40nm"


def row(workload: str, side: Side, energy: float, cycles: int, technology: str = COMMON, **more: Any) -> dict[str, Any]:
    """A row of a sweep; reads and writes of the register file are 60 and 40 unless given."""
    compiled = {} if side.machine_code is None else {"machine_code": side.machine_code}
    place = {"workload": workload, "machine": side.machine, "technology": technology, "compile": compiled}
    return {
        **place, "size": "tiny", "seed": 0, "mrf_reads": 60, "mrf_writes": 40, "energy_normalized": energy, FEW: energy,
        "energy_pj": 100 * energy, "cycles": cycles, **more,
    }  # fmt: skip


def made(
    side: Side, design: str, over: bool, energies: tuple[float, float], cycles: int, **more: Any
) -> list[DesignMeasurement]:
    """A design on two workloads."""
    return [
        DesignMeasurement(side.name, design, over, row(name, side, energy, cycles, **more))
        for name, energy in zip("ab", energies, strict=True)
    ]


FOUND = [
    *made(WINDOW, "mrf", False, (1.0, 1.0), 100),
    *made(WINDOW, "reuse", False, (0.8, 0.8), 100, mrf_reads=50, reuse_reads=10, reuse_writes=5, added_bytes=3072.0),
    *made(WINDOW, "rfc", False, (0.5, 0.5), 100, mrf_reads=20, rfc_reads=40, rfc_writes=40, added_bytes=6144.0),
    *made(
        WINDOW, "rfc", True, (0.4, 0.4), 200,
        mrf_reads=15, mrf_writes=10, reuse_reads=5, reuse_writes=5, rfc_reads=40, rfc_writes=40, added_bytes=9216.0,
    ),
    *made(OWN_CODE, "mrf", False, (1.0, 1.0), 100),
    *made(OWN_CODE, "reuse", False, (0.8, 0.8), 100),
    *made(OWN_CODE, "rfc", True, (0.9, 0.9), 100),
    *made(COLLECTORS, "mrf", False, (1.0, 1.0), 100),
    *made(COLLECTORS, "rfc", False, (0.25, 1.0), 50),
]  # fmt: skip


def test_a_design_over_the_reuse_cache_is_divided_by_it_alone() -> None:
    """Half its energy and speed, 6 KiB more.  Of 100 accesses of the plain register file 25 are left, 10 are of the
    reuse cache and 80 of the RFC.
    """
    rfc, plain = figures(FOUND, CASES[0])
    assert (rfc.design, rfc.mrf, rfc.reuse, rfc.own) == ("rfc", 0.25, 0.1, 0.8)
    assert (rfc.energy, rfc.speed, rfc.kib, rfc.workloads) == (pytest.approx(0.5), 0.5, 6.0, 2)
    assert (plain.design, plain.energy, plain.mrf) == ("mrf", pytest.approx(1.25), 1.0)


def test_a_design_may_stand_in_place_of_the_reuse_cache() -> None:
    (rfc, _) = figures(FOUND, next(case for case in CASES if case.name == "no reuse cache"))
    assert rfc.energy == pytest.approx(0.5 / 0.8)


def test_on_collectors_the_plain_register_file_is_the_base() -> None:
    """A quarter and all of the energy: their geometric mean is a half."""
    (rfc,) = figures(FOUND, Case("v100", COLLECTORS, over=False))
    assert (rfc.energy, rfc.speed) == (pytest.approx(0.5), 2.0)


def test_the_ranking_says_what_turns_it() -> None:
    """Over all cases the RFC is better; in our own code, where it takes 0.9 and the reuse cache 0.8, it is not."""
    results, (one,) = ranking(FOUND)
    assert results.ranked() == ["rfc", "reuse"]
    assert (one.better, one.other) == ("rfc", "reuse")
    axes, workloads = turned_by(one)
    assert axes == ["compile.machine_code=None"]
    assert workloads == 0


def test_levels_are_told_apart() -> None:
    own = {"mrf_reads": 1, "mrf_writes": 2, "orf_reads": 3, "orf_writes": 4, "lrf_reads": 5, "lrf_writes": 6}
    assert accesses(own, {"mrf_reads": 5, "mrf_writes": 5}) == (0.3, 0.0, 1.8)


def test_every_warp_has_entries() -> None:
    """64 warps of an H100 in place of 8: 6 entries of 128 bytes for 56 more; four schedulers have 16 warps each, whose
    store of 24 entries is for 4: three times as much again.
    """
    (rfc,) = grown("rfc", "h100", COMMON)
    assert (rfc.level, rfc.more_bytes) == ("RFC", 56 * 6 * 128)
    assert rfc.factor > 1
    (rsp,) = grown("rsp", "h100", COMMON)
    assert (rsp.level, rsp.more_bytes) == ("RSP", 3 * 4 * 24 * 128)
    assert grown("rc", "h100", COMMON) == ()


def test_every_warp_has_a_partition_of_ltrf() -> None:
    """64 partitions of 16 registers in place of 8.  The 16 warps of a scheduler have 256 words in a bank in place of
    128, which takes the square root of two.
    """
    (cache,) = grown("ltrf", "h100", COMMON)
    assert (cache.level, cache.times, cache.more_bytes) == ("RC", 8, 56 * 16 * 128)
    assert cache.factor == pytest.approx(2**0.5)


def test_an_active_set_stays_as_it_is() -> None:
    assert grown("rfc", "gebhart-rfc", COMMON) == ()


def test_a_row_for_all_warps() -> None:
    """The RFC's arrays took 0.2 of the energy of the plain register file; they take more, and nothing else changes."""
    (rfc,) = grown("rfc", "h100", COMMON)
    before = row("a", WINDOW, 0.5, 100, rfc_access_normalized=0.2, added_bytes=6144.0)
    after = with_all_warps(before, "rfc", "h100", COMMON)
    assert after["energy_normalized"] == pytest.approx(0.3 + 0.2 * rfc.factor)
    assert after["energy_pj"] == pytest.approx(100 * after["energy_normalized"])
    assert (after[FEW], after["added_bytes"]) == (0.5, 6144.0 + rfc.more_bytes)
    assert with_all_warps({"error": "no"}, "rfc", "h100", COMMON) == {"error": "no"}


def test_storage_for_all_warps_leaks() -> None:
    """Eight times the entries leak eight times as much: of 1.1 of the plain register file, 0.1 were of the RFC."""
    before = row("a", WINDOW, 0.5, 100, rfc_access_normalized=0.2, added_bytes=6144.0)
    before |= {"leakage_normalized": 1.1, "leakage_pj": {"MRF": 1000.0, "RFC": 100.0}}
    assert with_all_warps(before, "rfc", "h100", COMMON)["leakage_normalized"] == pytest.approx(1.0 + 0.8)
