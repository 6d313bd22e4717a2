"""Figures of the register cache and scratchpad paper that are computed from tables alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from warpreg.energy.counts import Structure
from warpreg.experiments.papers.ablation import under
from warpreg.experiments.papers.rc_rsp import designs
from warpreg.experiments.papers.rc_rsp import results as rc_rsp
from warpreg.experiments.papers.shown import find_ablation
from warpreg.experiments.runs.run import AS_COMPILED
from warpreg.experiments.runs.scheduled import Scheduled, Variant
from warpreg.experiments.studies.study import Study
from warpreg.replay import Counts


def row(name: str, rc: float, rsp: float, hybrid: float) -> dict[str, object]:
    """A workload whose energies are given and whose hybrid elides the most reads and the fewest writes."""
    return {
        "workload": name,
        "rc energy": rc,
        "rsp energy": rsp,
        "hybrid energy": hybrid,
        "rc half-size energy": rc,
        "rsp half-size energy": rsp,
        "rc reads elided": 0.5,
        "rsp reads elided": 0.5,
        "hybrid reads elided": 0.6,
        "rc writes elided": 0.5,
        "rsp writes elided": 0.5,
        "hybrid writes elided": 0.4,
    }


def test_wins_are_counted_apart_for_balanced_workloads() -> None:
    """Three are balanced, of which the hybrid wins two in energy; it wins the one that is not."""
    frame = pd.DataFrame(
        [row("a", 0.5, 0.55, 0.4), row("b", 0.5, 0.45, 0.44), row("c", 0.5, 0.45, 0.47), row("d", 0.9, 0.5, 0.4)]
    )
    found = rc_rsp.synergy(frame)
    assert found["rc-rsp-balanced-energy-wins"] == pytest.approx(13 * 2 / 3)
    assert found["rc-rsp-balanced-read-wins"] == 13
    assert found["rc-rsp-balanced-write-wins"] == 0
    assert found["rc-rsp-unbalanced-energy-wins"] == 8


def test_named_workloads_are_held_against_the_order_that_the_paper_tells() -> None:
    frame = pd.DataFrame([row("streamcluster", 0.4, 0.6, 0.5), row("hotspot", 0.4, 0.6, 0.5)])
    found = rc_rsp.synergy(frame)
    assert found["rc-rsp-streamcluster"] is True
    assert found["rc-rsp-hotspot"] is False


def test_capacities_become_lines_of_a_scheduler_and_registers_of_a_warp() -> None:
    """12 KB of an SM are 24 lines of each of 4 schedulers, or 6 registers of each of its 4 active warps."""
    assert dict(designs.rc(12).values)["lines"] == 24
    assert dict(designs.rsp(12).values)["entries"] == 6
    assert {"lines": 16, "entries": 2}.items() <= dict(designs.CHOSEN.values).items()


@pytest.mark.parametrize(("asked", "block", "warps"), [(None, 256, 64), (16, 256, 16), (16, 1024, 32), (80, 256, 64)])
def test_an_sm_may_hold_fewer_warps_but_a_thread_block(asked: int | None, block: int, warps: int) -> None:
    launch: Any = SimpleNamespace(block=(32, block // 32, 1))
    sm = Scheduled("gtx980-two-level", (), asked).machine_for([launch]).sm
    assert (sm.warps, sm.threads) == (warps, 32 * warps)


def test_by_the_register_all_that_is_compared_is_replayed() -> None:
    by_register = under(designs.COMPARED, find_ablation("rc-rsp", "sets-by-register"))
    assert isinstance(by_register, Scheduled)
    assert by_register.variants[0] == Variant.of("rc", lines=24, private=False, sets_by="register")
    assert all(dict(variant.values)["sets_by"] == "register" for variant in by_register.variants)


def test_what_the_cache_does_is_a_geometric_mean() -> None:
    """Of 20 reads the cache serves 18 of one workload and 2 of the other: the root of 0.9 x 0.1."""
    alone, hybrid, level = designs.rc(12), designs.CHOSEN, ("MRF", "RC")
    organisations = ("parallel-evict", "parallel-apart")
    parallel = {designs.hybrid(8, 4, one): counted(level, [10, 10], [5, 5]) for one in organisations}
    whole = {name: counted(("MRF",), [20], [10]) for name in ("hotspot", "lud")}
    compared = {
        name: each | parallel
        for name, each in {
            "hotspot": {alone: counted(level, [2, 18], [0, 10]), hybrid: counted(level, [10, 10], [5, 5])},
            "lud": {alone: counted(level, [18, 2], [0, 10]), hybrid: counted(level, [10, 10], [5, 5])},
        }.items()
    }
    rsp = {designs.rsp(12): {name: counted(("MRF", "RSP"), [5, 15], [5, 5]) for name in ("hotspot", "lud")}}
    study = Study("tiny", AS_COMPILED, {designs.MRF: whole, designs.COMPARED: compared, **rsp})
    results = rc_rsp.PARTS["designs"].findings(study)
    assert results["rc-rsp-reads-elided-rc"] == pytest.approx(0.3)
    assert results["rc-rsp-rc-hit-rate-alone"] == pytest.approx(0.3)
    assert results["rc-rsp-reads-elided-hybrid"] == results["rc-rsp-writes-elided-hybrid"] == pytest.approx(0.5)
    assert results["rc-rsp-writes-elided-rc"] == 1
    assert results["rc-rsp-parallel-evict"] == results["rc-rsp-parallel-no-liveout"]


def test_a_smaller_store_takes_less_of_the_die() -> None:
    areas = rc_rsp.areas()
    assert 0 < areas["rc-rsp-area-hybrid"] <= areas["rc-rsp-area-rc"] < 0.1


def counted(levels: tuple[str, ...], reads: list[int], writes: list[int], to_mrf: int = 0) -> Counts:
    """Reads and writes by level on the private datapath, and what goes from the second level to the first."""
    accesses = np.zeros((len(levels), 2, 2), np.int64)
    accesses[:, 0, 0], accesses[:, 1, 0] = reads, writes
    moves = np.zeros((len(levels), len(levels)), np.int64)
    if to_mrf:
        moves[1, 0] = to_mrf
    return Counts("design", {}, tuple(map(Structure, levels)), accesses, moves, {}, 100)


def test_the_parts_of_the_hybrid_add_up_to_what_it_elides() -> None:
    """Of 10 results 7 go to the scratchpad, 2 of them and 3 others to the cache, which writes 1 back: the cache elides
    4 of 10 writes and the scratchpad 5.  Of 20 reads they serve 6 and 9."""
    found: dict[Any, dict[str, Any]] = {
        designs.MRF: {"hotspot": counted(("MRF",), [20], [10])},
        designs.SCHEDULED: {"hotspot": {designs.CHOSEN: counted(("MRF", "RC", "RSP"), [5, 6, 9], [0, 5, 7], to_mrf=1)}},
    }
    frame = rc_rsp.figure_11(Study("tiny", AS_COMPILED, found))
    elided = frame.set_index(["panel", "part"])["elided"].to_dict()
    assert elided == pytest.approx(
        {("(a) writes", "RC"): 0.4, ("(b) reads", "RC"): 0.3, ("(a) writes", "RSP"): 0.5, ("(b) reads", "RSP"): 0.45}
    )
    assert sum(share for (what, _), share in elided.items() if "writes" in what) == pytest.approx(1 - 1 / 10)
