"""Causes name ablations, ablations change what they say, and what they show stands under the original's names."""

from __future__ import annotations

import pytest

from warpreg.designs import load
from warpreg.experiments import published
from warpreg.experiments.causes.ablation import Ablation, ablated, selected, under
from warpreg.experiments.causes.cause import Cause
from warpreg.experiments.causes.shown import find_ablation, shown
from warpreg.experiments.reproduction import MODULES, explained, paper_module
from warpreg.experiments.runs import CompileChoice
from warpreg.experiments.scheduled import Scheduled, Variant
from warpreg.experiments.study import Replay, study
from warpreg.ir.errors import UnknownNameError

PAPERS = list(MODULES)


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
            "id": "orf-usage-read-once", "published": 0.7, "measured": 0.9, "ablated": 0.6, "unit": "fraction",
            "within": True, "cause": "input: why (--ablation this)",
        }
    ]  # fmt: skip
    assert {one.id for one in published.results("orf-lrf")} >= causes.keys()


def test_an_ablation_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="ptx-order"):
        find_ablation("orf-lrf", "ptx-ordr")
