"""Causes name ablations, ablations change what they say, and what they show stands under the original's names."""

from __future__ import annotations

import pytest

from warpreg.designs import load
from warpreg.experiments.measures.ipc import Ipc
from warpreg.experiments.papers.ablation import Ablation, ablated, selected, under
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.orf_lrf import results as orf_lrf
from warpreg.experiments.papers.reproduction import PAPERS as FOLDERS
from warpreg.experiments.papers.reproduction import explained, paper_module
from warpreg.experiments.papers.rfc import results as rfc
from warpreg.experiments.papers.rfc.causes import TABLE_1, by_traces, to_the_oldest
from warpreg.experiments.papers.shown import compare, find_ablation, shown
from warpreg.experiments.runs.run import AS_COMPILED, CompileChoice
from warpreg.experiments.runs.scheduled import Scheduled, Variant
from warpreg.experiments.studies import published
from warpreg.experiments.studies.study import Replay, Study, study
from warpreg.ir.errors import UnknownNameError

PAPERS = list(FOLDERS)


@pytest.mark.parametrize("paper", PAPERS)
def test_each_cause_names_an_ablation_and_each_ablation_has_a_cause(paper: str) -> None:
    module = explained(paper)
    assert {cause.ablation for cause in module.CAUSES.values()} == set(module.ABLATIONS)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_cause_is_of_a_result_that_cannot_be_measured(paper: str) -> None:
    assert not explained(paper).CAUSES.keys() & paper_module(paper).UNMEASURABLE.keys()


@pytest.mark.parametrize("paper", PAPERS)
def test_ablations_ask_for_what_designs_and_compiler_know(paper: str) -> None:
    for ablation in explained(paper).ABLATIONS.values():
        CompileChoice(**ablation.choice).options()
        for design, values in ablation.parameters.items():
            load(design).configure(**values)


def test_a_measure_under_an_ablation_has_the_parameters_of_its_design() -> None:
    changed = {"rfc": {"entries": 2, "replacement": "lru"}}
    assert under(Replay.of("rfc", "static", entries=6), changed) == Replay.of(
        "rfc", "static", entries=2, replacement="lru"
    )
    assert under(Replay.of("mrf"), changed) == Replay.of("mrf")


def test_variants_that_become_one_are_replayed_once() -> None:
    measure = Scheduled("gtx980-two-level", (Variant.of("rc", lines=24), Variant.of("rc", lines=16)))
    assert under(measure, {"rc": {"lines": 8}}) == Scheduled("gtx980-two-level", (Variant.of("rc", lines=8),))


def test_an_ablated_study_counts_as_the_changed_design_under_the_name_of_the_original() -> None:
    """Six entries under an ablation that leaves one are one entry."""
    six, one = Replay.of("rfc", entries=6), Replay.of("rfc", entries=1)
    found = ablated(Ablation("one entry", parameters={"rfc": {"entries": 1}}), [six], ["vector-add"], "tiny")
    asked = study(["vector-add"], [six, one], "tiny")
    assert found[six]["vector-add"].mrf_accesses == asked[one]["vector-add"].mrf_accesses
    assert found[six]["vector-add"].mrf_accesses > asked[six]["vector-add"].mrf_accesses


def test_what_is_measured_instead_stands_under_the_name_of_the_original() -> None:
    six, one, plain = Replay.of("rfc", entries=6), Replay.of("rfc", entries=1), Replay.of("mrf")
    ablation = Ablation("one entry", instead=lambda measure: one if measure == six else measure, measures=(six, plain))
    assert ablation.needs_runs
    found = ablated(ablation, [six], ["vector-add"], "tiny", processes=1)
    asked = study(["vector-add"], [one, plain], "tiny", processes=1)
    assert found[six]["vector-add"].mrf_accesses == asked[one]["vector-add"].mrf_accesses
    assert found[plain]["vector-add"].mrf_accesses == asked[plain]["vector-add"].mrf_accesses


def test_other_code_runs_in_place_of_a_workload_and_under_its_name() -> None:
    """An address that steps along takes fewer instructions than one that is computed anew."""
    best = orf_lrf.BEST
    stepped = find_ablation("orf-lrf", "reduction-stepped")
    assert stepped.needs_runs
    found = ablated(stepped, [best], ["vector-add", "reduction-loop"], "tiny", processes=1)
    asked = study(["reduction-loop"], [best], "tiny", processes=1)
    assert list(found[best]) == ["reduction-loop"]
    (of_stepped,), (of_loop,) = found[best].values(), asked[best].values()
    assert of_stepped.warp_instructions < of_loop.warp_instructions


def test_only_greedy_schedulers_go_on_to_the_oldest() -> None:
    assert to_the_oldest(Ipc(6, "greedy", alu_cycles=4)) == Ipc(6, "gto", alu_cycles=4)
    assert to_the_oldest(Ipc(6, "lrr")) == Ipc(6, "lrr")
    assert to_the_oldest(rfc.MRF) == rfc.MRF


def test_categories_weigh_as_many_traces_as_the_paper_has() -> None:
    """The mean of the HPC examples is 0.2, that of video processing 0.5: (18 x 0.2 + 19 x 0.5) / 37."""
    values = {"dgemm": 0.1, "sgemm": 0.3, "motion-estimation": 0.5, "vector-add": 1.0}
    measured = Study("tiny", AS_COMPILED, {rfc.MRF: values})
    assert by_traces(measured, values.__getitem__) == pytest.approx((18 * 0.2 + 19 * 0.5) / 37)
    assert by_traces(Study("tiny", AS_COMPILED, {rfc.MRF: {"vector-add": 1.0}}), values.__getitem__) == 0
    assert sum(traces for traces, _ in TABLE_1.values()) == 210
    assert {name for _, examples in TABLE_1.values() for name in examples} <= set(rfc.WORKLOADS)


def test_a_selection_takes_some_workloads_of_a_study() -> None:
    measure = Replay.of("mrf")
    whole = study(["vector-add", "reduction"], [measure], "tiny", processes=1)
    kept = selected(Ablation("one workload", takes=lambda name: name == "reduction"), whole)
    assert list(kept[measure]) == ["reduction"]


def test_shown_are_the_results_whose_cause_names_the_ablation(monkeypatch: pytest.MonkeyPatch) -> None:
    module = explained("orf-lrf")
    causes = {"orf-usage-read-once": Cause("input", "why", "this"), "orf-opt-gain": Cause("paper", "why", "other")}
    monkeypatch.setattr(module, "CAUSES", causes)
    monkeypatch.setattr(paper_module("orf-lrf"), "findings", lambda study: {"orf-usage-read-once": 0.9})
    rows = list(shown("orf-lrf", "this", study([], []), {"orf-usage-read-once": 0.6}))
    assert [row.as_dict() for row in rows] == [
        {
            "paper": "orf-lrf", "id": "orf-usage-read-once", "published": 0.7, "measured": 0.9, "ablated": 0.6,
            "share": pytest.approx(1.5), "unit": "fraction", "within": True, "ablation": "this",
            "cause": "input: why (--ablation this)",
        }
    ]  # fmt: skip
    assert {one.id for one in published.results("orf-lrf")} >= causes.keys()


def test_all_ablations_of_a_paper_are_shown_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    module = explained("orf-lrf")
    monkeypatch.setattr(
        module, "ABLATIONS", {name: Ablation(name, findings=lambda _: {}) for name in ("this", "other")}
    )
    causes = {"orf-usage-read-once": Cause("input", "why", "this"), "orf-opt-gain": Cause("paper", "why", "other")}
    monkeypatch.setattr(module, "CAUSES", causes)
    monkeypatch.setattr(paper_module("orf-lrf"), "MEASURES", (Replay.of("mrf"),))
    monkeypatch.setattr(paper_module("orf-lrf"), "findings", lambda study: {})
    found = compare("orf-lrf", "all", "tiny", ["vector-add"], processes=1, keep=False)
    assert [(row.published.id, row.cause.ablation) for row in found] == [
        ("orf-usage-read-once", "this"),
        ("orf-opt-gain", "other"),
    ]


def test_an_ablation_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="ptx-order"):
        find_ablation("orf-lrf", "ptx-ordr")
