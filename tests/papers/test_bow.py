"""Figures and results of the study of bypassing operand collectors (thesis of 2021, chapter 3), on made-up samples."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.designs.kernels import at, kernel, op, pair, r

from warpreg import workloads
from warpreg.energy.counts import Structure
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample, Sampled
from warpreg.evaluation.studies.study import Replay, Study
from warpreg.replay import Counts
from warpreg_papers import published
from warpreg_papers.ablation import under
from warpreg_papers.bow import causes, costs, designs, frames, results
from warpreg_papers.bow.sources import Sources
from warpreg_papers.reproduction import ReproducedResult, figures_of, reproduced
from warpreg_papers.shown import find_ablation

BOW, BOW_WR = designs.bow(3), designs.bow_wr(3)


def counts(mrf: tuple[int, int], boc: tuple[int, int] = (0, 0), moved: int = 0, **events: int) -> Counts:
    """Reads and writes of both levels, and what leaves the collector for the register file."""
    accesses, moves = np.zeros((2, 2, 2), np.int64), np.zeros((2, 2), np.int64)
    accesses[:, :, 0] = mrf, boc
    moves[1, 0] = moved
    return Counts("bow", {}, (Structure("MRF"), Structure("BOC", entries=12)), accesses, moves, events, 100)


PLAIN_COUNTS = counts((100, 50))


def sample(cycles: int, found: Counts = PLAIN_COUNTS, warp_cycles: int = 1000, **resources: int) -> Sample:
    return Sample(
        cycles=cycles,
        warp_instructions=100,
        counts=found,
        plain=PLAIN_COUNTS,
        resources=resources,
        busy_cycles=cycles,
        stalls={"issued": warp_cycles, "empty": 10},
    )


def study(found: dict[Any, dict[str, Any]]) -> Study:
    return Study("tiny", AS_COMPILED, found)


def test_the_workloads_are_those_of_table_3_3() -> None:
    assert len(designs.WORKLOADS) == published.parameter("bow-benchmarks") == 15
    assert set(designs.WORKLOADS) <= set(workloads.names())


def test_designs_that_are_timed_have_their_parameters() -> None:
    """BOW is composed with the times of instructions."""
    chosen = {one: one.chosen() for one in (*designs.SAMPLES, *designs.OTHER_MACHINES) if isinstance(one, Sampled)}
    assert chosen[designs.timed(BOW)].values.bow_window == 3
    assert chosen[designs.timed(designs.HALF)].values.entries == 6
    assert {one.machine for one in chosen} == {*designs.GENERATIONS.values(), designs.LIMIT_MACHINE}


def test_table_3_1() -> None:
    """By register r0 to r3.  The table counts two writes of r2 where the printed code has three."""
    found = results.table_31()
    by_version = {
        version: [found[f"bow-table31-{name}-{version}"] for name in ("r0", "r1", "r2", "r3", "total")]
        for version in ("wt", "wb", "opt")
    }
    assert by_version == {"wt": [3, 4, 3, 1, 11], "wb": [1, 2, 1, 1, 5], "opt": [0, 1, 0, 1, 2]}


def test_eliminated_accesses_are_shares_of_all_with_evictions_as_writes() -> None:
    """Of 100 reads 40 are left; of 50 writes 10 go directly and 15 at eviction."""
    assert frames.eliminated(counts((40, 10), (60, 40), moved=15), PLAIN_COUNTS) == {"reads": 0.6, "writes": 0.5}


def test_reads_are_those_of_bow_and_writes_those_of_bow_wr() -> None:
    found: dict[Any, dict[str, Any]] = {designs.MRF: {"a": PLAIN_COUNTS, "b": PLAIN_COUNTS}}
    for window in results.STUDIED:
        found[designs.replayed(designs.bow(window))] = {"a": counts((40, 50)), "b": counts((80, 50))}
        found[designs.replayed(designs.bow_wr(window))] = {"a": counts((40, 10)), "b": counts((80, 30), moved=10)}
    measured = results.PARTS["reuse"].findings(study(found))
    assert measured["bow-read-bypass-iw2"] == measured["bow-bypass-iw7"] == pytest.approx(0.4)
    assert measured["bow-write-bypass-iw3"] == pytest.approx(0.5)


def test_destinations_are_shares_of_all_computed_operands() -> None:
    """A value that nothing reads is not needed outside the window, but has no class of Figure 3.7."""
    one = counts((0, 0), to_file=20, to_collector=40, to_both=30, to_neither=10)
    found = results.PARTS["destinations"].findings(study({designs.replayed(BOW_WR): {"a": one}}))
    assert found == pytest.approx(
        {"bow-dest-rf-only": 0.2, "bow-dest-boc-only": 0.4, "bow-dest-both": 0.3, "bow-transient-share": 0.5}
    )


def test_sources_are_weighted_with_executions() -> None:
    """A block of a move and a multiply-add runs 3 times; one with a store, which reads 2 registers of its address and
    its value, once."""
    code = kernel(
        [op("mov.b32", r(1), 5), op("mad.lo.s32", r(2), r(0), r(1), r(1))], [op("st.global.u32", at(pair(4)), r(2))]
    )
    run: Any = SimpleNamespace(
        kernels=[code], launches_of=lambda kernel: [SimpleNamespace(block_visits=np.array([3, 1]))]
    )
    assert Sources()(run) == pytest.approx((3 / 7, 0, 0, 4 / 7))


def test_time_in_collection_is_a_share_of_the_time_to_the_result() -> None:
    """All instructions are in the stage for 90 cycles, of 100 + 300 + 50."""
    plain = sample(
        1, collecting=30, running=100, collecting_memory=10, running_memory=300, collecting_without_result=50
    )
    plain = replace(plain, until_dispatch=90)
    assert frames.collection_shares(plain) == {
        "memory": pytest.approx(1 / 30), "others": 0.3, "all": 0.1, "all, until dispatch": 0.2,
    }  # fmt: skip
    assert frames.collecting(plain) == 90


def occupied(shares: dict[str, float]) -> Study:
    """Samples with these shares of cycles over half."""
    found = {name: sample(1, boc_entries=0, boc_over_half=int(1000 * share)) for name, share in shares.items()}
    return study({designs.timed(BOW_WR): found})


def test_collectors_over_half() -> None:
    few = occupied({"bfs": 0.0, "b-tree": 0.0, "backprop": 0.0, "wp": 0.2, "sad": 0.3})
    assert results.PARTS["occupancy"].findings(few) == {
        "bow-boc-over-half": pytest.approx(0.1),
        "bow-boc-never-over-half": True,
        "bow-occupancy-high": True,
    }
    many = occupied({"bfs": 0.4, "b-tree": 0.0, "backprop": 0.0, "wp": 0.0, "sad": 0.3})
    assert results.PARTS["occupancy"].findings(many)["bow-boc-never-over-half"] is False
    assert results.PARTS["occupancy"].findings(many)["bow-occupancy-high"] is False


def test_gains_are_means_of_ipc_over_the_baseline() -> None:
    """Of 100 instructions: 100 cycles in the baseline, 80 and 50 with BOW-WR, 100 and 80 with half of its entries."""
    cycles: dict[Variant | None, tuple[int, int]] = {
        None: (100, 100), BOW: (100, 80), BOW_WR: (50, 80), designs.HALF: (80, 100), designs.RFC: (100, 100)
    }  # fmt: skip
    found = {
        designs.timed(variant): {
            name: sample(one, collecting=40 if variant else 100) for name, one in zip(("sad", "wp"), each, strict=True)
        }
        for variant, each in cycles.items()
    }
    parts = ("cycles", "wp", "collection")
    measured = {name: value for part in parts for name, value in results.PARTS[part].findings(study(found)).items()}
    assert measured["bow-ipc-iw3"] == pytest.approx(0.125)
    assert measured["bow-wr-ipc-iw3"] == pytest.approx((1 + 0.25) / 2)
    assert measured["bow-wr-ipc-half"] == measured["bow-wr-ipc-summary"] == pytest.approx(0.125)
    assert measured["bow-half-loss"] == pytest.approx((1 - 1.25 / 2 + 1 - 1 / 1.25) / 2)
    assert measured["bow-oc-cycles-iw3"] == pytest.approx(0.6)
    assert measured["bow-rfc-ipc"] == 0
    assert measured["bow-sensitivity-sad"] is True
    assert measured["bow-sensitivity-wp"] is True


def test_overhead_is_the_energy_of_collectors_and_network() -> None:
    """60 accesses of the register file at 185.26 pJ instead of 150, 100 of collectors at 2.72 pJ, and 40 of these
    write through the network, for 33.2 / 16 pJ each.
    """
    found = costs.dynamic(sample(1000, counts((40, 20), (60, 40))), sample(1000), BOW)
    assert found.register_file == pytest.approx(60 / 150)
    assert found.added == pytest.approx((100 * 2.72 + 40 * 33.2 / 16) / (150 * 185.26))


def test_storage_and_table_3_4() -> None:
    """Sections 3.4.3 and 3.5.1: 36 KB, 12 KB, and 24 KB for the cache; 2%, 1.4% and 0.9% of a bank."""
    assert [costs.added_kb(one) for one in (BOW, designs.HALF, designs.RFC)] == [36, 12, 24]
    assert results.PARTS["storage"].findings(study({})) == {"bow-rfc-storage-ratio": 2}
    shares = costs.table_34().set_index(["collector", "quantity"])["share"]
    assert shares["12 entries", "size"] == pytest.approx(1.5 / 64)
    assert shares["12 entries", "access energy"] == pytest.approx(2.72 / 185.26)
    assert shares["12 entries", "leakage power"] == pytest.approx(1.11 / 111.84)


def test_the_other_order_is_replayed_under_its_ablation() -> None:
    changed = under(designs.replayed(BOW), find_ablation("bow", "lookup-first"))
    assert changed == Replay.of("bow", window=3, eviction="after")


def test_a_timed_design_has_other_parameters_under_an_ablation() -> None:
    changed = under(designs.timed(BOW), find_ablation("bow", "any-ports"))
    assert changed == designs.timed(Variant.of("bow", window=3, ports=0))
    assert under(designs.PLAIN, find_ablation("bow", "any-ports")) == designs.PLAIN


def test_all_printed_results_are_measured_or_quoted() -> None:
    rows = list(reproduced("bow", complete_study()))
    assert {row.published.id for row in rows if row.status == "quoted"} == {
        "bow-rfc-energy-quoted", "bow-quoted-packing-speedup", "bow-quoted-lastuse-speedup", "bow-quoted-rfv-half"
    }  # fmt: skip
    assert all(row.measured is not None for row in rows if not row.published.quoted)


def test_no_operand_path_gains_more_than_operands_that_take_no_time() -> None:
    """IPC gains 1/99 if operands take no time, and 1/9: of the printed 0.11, the first is short by more than 0.05."""

    def row(ideal_cycles: int) -> ReproducedResult:
        whole = complete_study()
        ideal = {designs.LIMIT: dict.fromkeys(designs.WORKLOADS, sample(ideal_cycles))}
        rows = reproduced("bow", replace(whole, found={**whole.found, **ideal}))
        return next(one for one in rows if one.published.id == "bow-ipc-iw3")

    assert row(90).status == "measured"
    barred = row(99)
    assert (barred.status, barred.as_dict()["limit"]) == ("out of reach", pytest.approx(1 / 99))


def test_wp_which_gains_little_in_print_has_no_more_than_the_printed_mean_of_the_limit() -> None:
    """WP is twice as fast without time for operands, which counts as the printed 0.11; the 14 others gain nothing."""
    ideal = {name: sample(50 if name == "wp" else 100) for name in designs.WORKLOADS}
    plain = dict.fromkeys(designs.WORKLOADS, sample(100))
    limit = causes.LIMITS["bow-ipc-iw3"]
    assert limit.bound(study({designs.PLAIN: plain, designs.LIMIT: ideal})) == pytest.approx(0.11 / 15)


def test_by_the_other_reading_the_network_takes_its_share_of_the_power() -> None:
    """33.2 mW of 2.5 W are 1.328%.  Each of the 150 accesses costs 185.26 pJ in the register file, and of 75 in
    collectors each costs 2.72.
    """
    found = {designs.PLAIN: {"nw": sample(100)}, designs.timed(BOW): {"nw": sample(100, counts((40, 10), (50, 25)))}}
    overheads = frames.overheads_by_power(study(found), BOW)
    assert overheads == {"nw": pytest.approx(0.01328 + 75 * 2.72 / (150 * 185.26))}


def complete_study() -> Study:
    times = dict.fromkeys(
        (
            "collecting", "collecting_memory", "collecting_without_result", "running", "running_memory", "boc_entries",
            "boc_over_half",
        ), 1,
    )  # fmt: skip
    events = dict.fromkeys(frames.CLASSES, 1)
    one = sample(100, counts((40, 10), (60, 40), **events), **times)
    found: dict[Any, dict[str, Any]] = {
        measure: dict.fromkeys(designs.WORKLOADS, one.counts if isinstance(measure, Replay) else one)
        for measure in designs.MEASURES
    }
    found[designs.SOURCES] = dict.fromkeys(designs.WORKLOADS, (0.1, 0.4, 0.4, 0.1))
    return study(found)


def test_figures_have_the_columns_that_they_declare() -> None:
    whole, printed = complete_study(), {one.id for one in published.results("bow")}
    for figure in figures_of("bow"):
        columns = {figure.x.column, figure.y.column, figure.series, figure.groups, figure.panels} - {""}
        frame = figure.frame(whole)
        assert len(frame)
        assert columns <= set(frame.columns), figure.name
        assert all(mark.result in printed for mark in figure.marks)
