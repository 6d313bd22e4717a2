"""Causes name ablations, ablations make the change that they state, and results keep their names under them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

from warpreg.designs import load
from warpreg.evaluation.measures.ipc import Ipc
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.ratios import mean_ratio
from warpreg.evaluation.studies.study import Measured, Replay, Study, study
from warpreg.ir.errors import UnknownNameError
from warpreg_papers import published
from warpreg_papers.ablation import MACHINE, Ablation, AblationError, Mix, ablated, under, weighted
from warpreg_papers.cause import Cause, judge
from warpreg_papers.orf_lrf import results as orf_lrf
from warpreg_papers.part import Part
from warpreg_papers.reproduction import PAPERS as FOLDERS
from warpreg_papers.reproduction import explained, paper_module
from warpreg_papers.rfc import results as rfc
from warpreg_papers.rfc.causes import TABLE_1
from warpreg_papers.shown import AblationResult, compare, find_ablation, parts_of, shown, workloads_under

PAPERS = list(FOLDERS)


def part(*measures: Replay) -> Part:
    return Part(measures, lambda study: {})


@pytest.mark.parametrize("paper", PAPERS)
def test_each_cause_names_an_ablation_and_each_ablation_has_a_cause_or_a_remark(paper: str) -> None:
    """An ablation may also show that something is not the cause of a result, which its remark says."""
    module = explained(paper)
    remarked = {name for text in module.REMARKS.values() for name in re.findall(r"--ablation ([\w-]+)", text)}
    assert {cause.ablation for cause in module.CAUSES.values()} | remarked == set(module.ABLATIONS)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_cause_is_of_a_result_that_cannot_be_measured_or_has_a_remark(paper: str) -> None:
    module = explained(paper)
    assert not module.CAUSES.keys() & (paper_module(paper).UNMEASURABLE.keys() | module.REMARKS.keys())


@pytest.mark.parametrize("paper", PAPERS)
def test_an_ablation_measures_the_results_whose_cause_names_it(paper: str) -> None:
    module = explained(paper)
    for name, ablation in module.ABLATIONS.items():
        assert parts_of(paper, ablation)
        assert ablation.code.keys() <= set(workloads_under(paper, name))


def test_an_ablation_changes_inputs_and_nothing_else() -> None:
    """It has no place for other findings or measures, or for workloads chosen by a rule."""
    assert [one.name for one in fields(Ablation)] == [
        "title", "parts", "choice", "parameters", "machine", "code", "mix",
    ]  # fmt: skip
    assert MACHINE == ("inner", "warps", "code", "demand", "machine")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"machine": {"size": {"small": "tiny"}}},
            "expected changes of inner, warps, code, demand, machine, found size",
        ),
        ({"machine": {"perfect_cache": {False: True}}}, "found perfect_cache"),
        ({"mix": Mix("", {"a": (1, ["vector-add"])})}, "expected a mix with its source, found none"),
        ({}, "expected one thing that changes, found none"),
    ],
)
def test_another_change_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(AblationError, match=message):
        Ablation("odd", ("all",), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("paper", PAPERS)
def test_texts_of_causes_have_no_figures_of_a_run(paper: str) -> None:
    """Shares and fractions come with the ablation; what stands in a text is printed in the paper."""
    texts = [cause.text for cause in explained(paper).CAUSES.values()] + list(explained(paper).REMARKS.values())
    assert not [text for text in texts if re.search(r"\b[01]\.\d", text)]


@pytest.mark.parametrize("paper", PAPERS)
def test_ablations_ask_for_what_designs_and_compiler_know(paper: str) -> None:
    for ablation in explained(paper).ABLATIONS.values():
        CompileChoice(**ablation.choice).options()
        for design, values in ablation.parameters.items():
            load(design).configure(**values)


def test_a_measure_under_an_ablation_has_the_parameters_of_its_design() -> None:
    changed = Ablation("small", (), parameters={"rfc": {"entries": 2, "replacement": "lru"}})
    assert under(Replay.of("rfc", "static", entries=6), changed) == Replay.of(
        "rfc", "static", entries=2, replacement="lru"
    )
    assert under(Replay.of("mrf"), changed) == Replay.of("mrf")


def test_variants_that_become_one_are_replayed_once() -> None:
    measure = Scheduled("gtx980-two-level", (Variant.of("rc", lines=24), Variant.of("rc", lines=16)))
    small = Ablation("small", (), parameters={"rc": {"lines": 8}})
    assert under(measure, small) == Scheduled("gtx980-two-level", (Variant.of("rc", lines=8),))


def test_an_ablated_study_counts_as_the_changed_design_under_the_name_of_the_original() -> None:
    """Six entries under an ablation that leaves one are one entry."""
    six, one = Replay.of("rfc", entries=6), Replay.of("rfc", entries=1)
    small = Ablation("one entry", ("all",), parameters={"rfc": {"entries": 1}})
    found = ablated(small, [part(six)], ["vector-add"], "tiny", processes=1)
    asked = study(["vector-add"], [six, one], "tiny")
    assert found[six]["vector-add"].mrf_accesses == asked[one]["vector-add"].mrf_accesses
    assert found[six]["vector-add"].mrf_accesses > asked[six]["vector-add"].mrf_accesses


def test_an_ablation_runs_the_workloads_that_its_parts_are_about() -> None:
    measure = Replay.of("mrf")
    some = Part((measure,), lambda study: {}, ("reduction",))
    order = Ablation("no scheduling", ("some",), choice={"schedule": False})
    found = ablated(order, [some], ["vector-add", "reduction"], "tiny", processes=1)
    assert list(found[measure]) == ["reduction"]


def test_sizes_that_orf_lrf_does_not_print_are_changed_in_all_designs_of_a_kind() -> None:
    """Section 7: the cache that flushes at backward branches and the one that does not have six entries then."""
    six, five = find_ablation("orf-lrf", "cache-of-six"), find_ablation("orf-lrf", "orf-of-five")
    assert under(orf_lrf.BACKWARD, six) == orf_lrf.hw(6, flush_backward=True)
    assert under(orf_lrf.hw(3), six) == orf_lrf.hw(6)
    assert under(orf_lrf.PLAIN_ORF, five) == orf_lrf.sw(5, partial="none", operands=False)
    assert under(orf_lrf.sw(3), five) == orf_lrf.sw(5)


def test_other_code_runs_in_place_of_a_workload_and_under_its_name() -> None:
    """An address that steps along in a loop is not the code of the suite's reduction."""
    best = orf_lrf.BEST
    stepped = find_ablation("orf-lrf", "reduction-stepped")
    assert stepped.needs_runs
    assert workloads_under("orf-lrf", "reduction-stepped", ["vector-add", "reduction"]) == ["reduction"]
    parts = [Part((best,), lambda study: {}, ("reduction",))]
    found = ablated(stepped, parts, ["vector-add", "reduction"], "tiny", processes=1)
    asked = study(["reduction"], [best], "tiny", processes=1)
    assert list(found[best]) == ["reduction"]
    (of_stepped,), (of_suite,) = found[best].values(), asked[best].values()
    assert of_stepped.warp_instructions != of_suite.warp_instructions


def test_only_what_an_ablation_names_of_the_machine_changes() -> None:
    oldest = find_ablation("rfc", "oldest-next")
    assert under(Ipc(6, "greedy", alu_cycles=4), oldest) == Ipc(6, "gto", alu_cycles=4)
    assert under(Ipc(6, "lrr"), oldest) == Ipc(6, "lrr")
    assert under(rfc.MRF, oldest) == rfc.MRF
    few = find_ablation("rc-rsp", "few-warps")
    assert under(Scheduled("gtx980-two-level", ()), few) == Scheduled("gtx980-two-level", (), 16)


def test_categories_weigh_as_many_traces_as_the_paper_has() -> None:
    """The mean of the HPC examples is 0.2, that of video processing 0.5: (18 x 0.2 + 19 x 0.5) / 37."""
    values = {"dgemm": 0.1, "sgemm": 0.3, "motion-estimation": 0.5, "vector-add": 1.0}
    mixed = weighted(Study("tiny", AS_COMPILED, {rfc.MRF: values}), TABLE_1)
    assert list(mixed[rfc.MRF]) == ["dgemm", "sgemm", "motion-estimation"]
    found: Mapping[str, Any] = mixed[rfc.MRF]
    pairs = ((float(value), 1.0) for value in found.values())
    assert mean_ratio(pairs, mixed.weights_of(mixed[rfc.MRF])) == pytest.approx((18 * 0.2 + 19 * 0.5) / 37)
    assert sum(weight for weight, _ in TABLE_1.groups.values()) == 210
    assert {name for _, examples in TABLE_1.groups.values() for name in examples} <= set(rfc.WORKLOADS)


def test_traffic_of_a_mix_is_a_weighted_mean() -> None:
    """Three quarters of the weight on one of two workloads."""
    names = ["vector-add", "reduction"]
    traffic = rfc.PARTS["traffic"]
    found = study(names, traffic.measures, "tiny", processes=1)
    mix = Mix("by hand", {"a": (3, names[:1]), "b": (1, names[1:])})
    each = [traffic.findings(weighted(found, Mix("", {"a": (1, [name])})))["rfc-6-mrf-reads-avoided"] for name in names]
    both = traffic.findings(weighted(found, mix))["rfc-6-mrf-reads-avoided"]
    assert both == pytest.approx(0.75 * each[0] + 0.25 * each[1])


@pytest.mark.parametrize(
    ("share", "within", "verdict"),
    [
        (0.6, True, "shown"),
        (1.3, True, "shown"),
        (0.59, True, "partly"),
        (1.31, True, "partly"),
        (0.95, False, "partly"),
        (0.1, False, "partly"),
        (1.9, False, "partly"),
        (0.09, True, "not explained"),
        (1.91, False, "not explained"),
        (-0.5, False, "not explained"),
        (None, True, "shown"),
        (None, False, "not explained"),
    ],
)
def test_a_cause_is_shown_if_most_of_the_difference_goes_away(share: float | None, within: bool, verdict: str) -> None:
    assert judge(share, within=within) == verdict


@pytest.mark.parametrize(
    ("measured", "ablated", "share", "verdict"),
    [
        (0.4, 0.53, 0.13 / 0.14, "shown"),  # 0.54 +- 0.05 is printed
        (0.4, 0.485, 0.085 / 0.14, "partly"),  # most of it goes away, but it ends outside
        (0.4, 0.42, 0.02 / 0.14, "partly"),
        (0.4, 0.39, -0.01 / 0.14, "not explained"),
        (0.4, None, None, "not explained"),
        (0.5, 0.54, 1.0, None),  # within as it is
        (None, None, None, None),
    ],
)
def test_the_verdict_is_computed_from_the_run(
    measured: Measured | None, ablated: Measured | None, share: float | None, verdict: str | None
) -> None:
    (printed,) = [one for one in published.results("orf-lrf") if one.id == "orf-sw-energy-saving-max"]
    row = AblationResult(printed, Cause("compiler", "order", "source-order"), "no order", measured, ablated)
    assert row.share == (None if share is None else pytest.approx(share))
    assert row.verdict == row.as_dict()["verdict"] == verdict


def test_shown_are_the_results_whose_cause_names_the_ablation(monkeypatch: pytest.MonkeyPatch) -> None:
    module = explained("orf-lrf")
    causes = {"orf-usage-read-once": Cause("input", "why", "this"), "orf-opt-gain": Cause("model", "why", "other")}
    monkeypatch.setattr(module, "CAUSES", causes)
    monkeypatch.setattr(module, "ABLATIONS", {"this": Ablation("less of it", (), choice={"rotate": 1})})
    monkeypatch.setattr(paper_module("orf-lrf"), "findings", lambda study: {"orf-usage-read-once": 0.9})
    rows = list(shown("orf-lrf", "this", study([], []), {"orf-usage-read-once": 0.6}))
    assert [row.as_dict() for row in rows] == [
        {
            "paper": "orf-lrf", "id": "orf-usage-read-once", "published": 0.7, "measured": 0.9, "ablated": 0.6,
            "share": 1.0, "unit": "fraction", "within": True, "verdict": "shown", "ablation": "this",
            "title": "less of it", "cause": "input: why (--ablation this)",
        }
    ]  # fmt: skip
    assert {one.id for one in published.results("orf-lrf")} >= causes.keys()


def test_all_ablations_of_a_paper_are_shown_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    module = explained("orf-lrf")
    mix = Mix("by hand", {"all": (1, ["vector-add"])})
    monkeypatch.setattr(module, "ABLATIONS", {name: Ablation(name, ("none",), mix=mix) for name in ("this", "other")})
    monkeypatch.setattr(paper_module("orf-lrf"), "PARTS", {"none": Part((), lambda study: {})})
    causes = {"orf-usage-read-once": Cause("input", "why", "this"), "orf-opt-gain": Cause("model", "why", "other")}
    monkeypatch.setattr(module, "CAUSES", causes)
    monkeypatch.setattr(paper_module("orf-lrf"), "MEASURES", (Replay.of("mrf"),))
    monkeypatch.setattr(paper_module("orf-lrf"), "findings", lambda study: {})
    found = compare("orf-lrf", "all", "tiny", ["vector-add"], processes=1, keep=False)
    assert [(row.published.id, row.cause.ablation) for row in found] == [
        ("orf-usage-read-once", "this"),
        ("orf-opt-gain", "other"),
    ]


def test_an_ablation_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="scheduled"):
        find_ablation("orf-lrf", "schedulde")


def test_a_part_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="part of the results of rfc"):
        parts_of("rfc", Ablation("odd", ("trafic",), choice={"rotate": 1}))
