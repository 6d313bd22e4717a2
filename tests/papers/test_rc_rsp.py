"""Figures of the register cache and scratchpad paper that are computed from tables alone."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from warpreg.energy.counts import Structure
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.study import Study
from warpreg.replay import Counts
from warpreg_papers import published
from warpreg_papers.ablation import under
from warpreg_papers.rc_rsp import costs, designs, frames
from warpreg_papers.rc_rsp import results as rc_rsp
from warpreg_papers.rc_rsp.sizes import AtSize
from warpreg_papers.shown import find_ablation


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


def most_at_half_size(whole: float, half: float, elided: costs.ElidedShares) -> float:
    """The most that an access of a store may cost at half its size, as a share of its cost at full size, by the paper's
    normalized energies with ``whole`` and ``half``-size power (section IV-B1) and its shares of elided accesses.

    Reads and writes that are not elided cost what they cost in the baseline.  Whatever the mix of reads and writes, no
    less than the smaller share of them stays in the main register file; the rest of the energy is the store's.
    """
    in_store = whole - (1 - max(elided.reads, elided.writes))
    return 1 - (whole - half) / in_store


@pytest.mark.parametrize(("label", "most"), [("rsp", 0.079 / 0.119), ("rc", 0.184 / 0.212)])
def test_printed_energies_rise_faster_with_the_size_than_those_of_cacti(label: str, most: float) -> None:
    """Section IV-B: the scratchpad takes 0.471, with half-size power 0.431, and leaves 0.352 of the accesses or more to
    the main register file, so that its own part is at most 0.119, and 0.079 at half size.  The cache: 0.479, 0.451 and
    0.267.
    CACTI's slices of half the size cost 0.87 or more.
    """
    rows = {one.id: one.value or 0.0 for one in published.results("rc-rsp")}
    elided = costs.ElidedShares(rows[f"rc-rsp-reads-elided-{label}"], rows[f"rc-rsp-writes-elided-{label}"])
    whole, half = (rows[f"rc-rsp-register-energy-{size}{label}"] for size in ("", "half-"))
    assert most_at_half_size(whole, half, elided) == pytest.approx(most)
    level = label.upper()
    for action in ("read", "write"):
        six, three = (costs.price(Structure(level, entries=lines), action) for lines in (6, 3))
        assert three / six > 0.87 > most


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


def test_the_hybrid_takes_less_of_the_die_than_the_cache_and_more_than_the_scratchpad() -> None:
    """Two thirds of the cache's area and a third of the scratchpad's."""
    areas = {label: rc_rsp.areas()[f"rc-rsp-area-{label}"] for label in ("rc", "rsp", "hybrid")}
    assert areas["rsp"] < areas["hybrid"] < areas["rc"] < 0.1
    assert areas["hybrid"] == pytest.approx(2 / 3 * areas["rc"] + 1 / 3 * areas["rsp"])


@pytest.mark.parametrize(
    ("design", "levels", "change"),
    [
        (designs.rc(12), ("MRF", "RC"), 2 * (253.0 - 44.9) + 1 * (262.8 + 44.9)),
        (designs.rsp(12), ("MRF", "RSP"), 2 * (253.0 - 22.8) + 1 * (262.8 - 28.0)),
    ],
)
def test_what_the_printed_shares_would_change(design: designs.Design, levels: tuple[str, ...], change: float) -> None:
    """Of 20 reads 12 are elided, of 10 writes 6; printed are 0.7 and 0.7, so 2 reads and 1 write more.  A read of the
    main register file takes 35.8 + 217.2 pJ, a write 45.6 + 217.2.  The cache saves the write back, which reads it.
    """
    found, baseline = counted(levels, [8, 12], [4, 10]), counted(("MRF",), [20], [10])
    served = costs.served(design, found, baseline, costs.ElidedShares(0.6, 0.6), costs.ElidedShares(0.7, 0.7))
    assert served == pytest.approx(-change / (20 * 253.0 + 10 * 262.8), abs=1e-4)


def test_energies_have_a_band_and_shares_have_none() -> None:
    """The scratchpad serves 15 of 20 reads and takes all 10 results.  A read of the MRF takes 147.9 or 346.8 pJ, a
    write 157.7 or 356.7.
    """
    level = ("MRF", "RC")
    each = {one: counted(level, [10, 10], [5, 5]) for one in designs.COMPARED.variants}
    rsp = {designs.rsp(12): {"hotspot": counted(("MRF", "RSP"), [5, 15], [0, 10])}}
    whole = {"hotspot": counted(("MRF",), [20], [10])}
    found: dict[Any, dict[str, Any]] = {designs.MRF: whole, designs.COMPARED: {"hotspot": each}, **rsp}
    bands = rc_rsp.bands(Study("tiny", AS_COMPILED, found))
    low, high = bands["rc-rsp-register-energy-rsp"]
    upper = 15 * 22.8 + 10 * 28.0
    assert low == pytest.approx((5 * 346.8 + upper) / (20 * 346.8 + 10 * 356.7), rel=1e-3)
    assert high == pytest.approx((5 * 147.9 + upper) / (20 * 147.9 + 10 * 157.7), rel=1e-3)
    assert "rc-rsp-reads-elided-rsp" not in bands
    assert "rc-rsp-rc-hit-rate-alone" not in bands


def test_every_point_of_the_sweep_is_a_limit_of_warps() -> None:
    """The scratchpad's counts are those of the study: they depend on no schedule."""
    level, whole = ("MRF", "RC"), {"hotspot": counted(("MRF",), [20], [10])}
    found: dict[Any, dict[str, Any]] = {designs.MRF: whole}
    for served, measure in enumerate((*designs.SWEPT.values(), designs.COMPARED)):
        found[measure] = {
            "hotspot": {one: counted(level, [20 - served, served], [0, 10]) for one in designs.COMPARED.variants}
        }
    found[designs.rsp(12)] = {"hotspot": counted(("MRF", "RSP"), [5, 15], [5, 5])}
    frame = frames.sweep_of_warps(Study("tiny", AS_COMPILED, found))
    by_design = {label: rows.set_index("warps")["reads elided"].to_dict() for label, rows in frame.groupby("design")}
    assert by_design["RC"] == pytest.approx({16: 0.0, 32: 0.05, 64: 0.1})
    assert set(by_design["RSP"].values()) == {0.75}


def test_a_measure_at_another_size_runs_the_workload_with_the_same_code() -> None:
    choice = CompileChoice(address_bits=32)
    run = run_workload(find_workload("vector-add"), "tiny", choice=choice)
    small = dataclasses.replace(run, options={**run.options, "size": "small"})
    found = AtSize(Warps(), "tiny")(small)
    assert found == (sum(launch.warps for launch in run.launches), 32)
    assert AtSize(Warps(), "tiny")(run) is None


@dataclasses.dataclass(frozen=True)
class Warps:
    """Warps of a run, and the bits of its addresses."""

    def __call__(self, run: Run) -> tuple[int, int]:
        return sum(launch.warps for launch in run.launches), run.options["address_bits"]


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
    frame = frames.figure_11(Study("tiny", AS_COMPILED, found))
    elided = frame.set_index(["panel", "part"])["elided"].to_dict()
    assert elided == pytest.approx(
        {("(a) writes", "RC"): 0.4, ("(b) reads", "RC"): 0.3, ("(a) writes", "RSP"): 0.5, ("(b) reads", "RSP"): 0.45}
    )
    assert sum(share for (what, _), share in elided.items() if "writes" in what) == pytest.approx(1 - 1 / 10)
