"""Reproduced papers in a report: measured values, and the verdicts of ablations as far as these have been measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies import findings
from warpreg.evaluation.studies.study import Study, Usage
from warpreg_papers import reproduction
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.part import Part
from warpreg_papers.report_section import reproduction as of_paper

RESULT = "rfc-usage-read-more-than-2"
"""Printed: 10%."""
WORKLOADS = ["vector-add", "bfs"]


def mean(found: Study) -> dict[str, float]:
    """The result is the mean of what is saved of each workload."""
    saved = list(found.found[Usage()].values())
    return {RESULT: sum(saved) / len(saved)} if saved else {}


def save(values: dict[str, float], choice: CompileChoice) -> None:
    for name, value in values.items():
        key = findings.key_of(Usage(), name, "tiny", choice)
        assert key is not None
        findings.keep(key, value)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileChoice:
    """The paper with one result and one cause; returns the options of its code."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "cache"))
    module, said = reproduction.paper_module("rfc"), reproduction.explained("rfc")
    for name, value in {
        "WORKLOADS": WORKLOADS, "MEASURES": [Usage()], "findings": mean, "UNMEASURABLE": {},
        "PARTS": {"usage": Part([Usage()], mean)},
    }.items():  # fmt: skip
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(said, "CAUSES", {RESULT: Cause("compiler", "another order", "source-order")})
    ablation = Ablation("in the order of the source", parts=("usage",), choice={"schedule": False})
    monkeypatch.setattr(said, "ABLATIONS", {"source-order": ablation})
    monkeypatch.setattr(said, "REMARKS", {})
    return reproduction.code_of("rfc").choice


def told(paper: str = "rfc") -> dict[str, object]:
    (found,) = [one for one in of_paper(paper, "tiny")["results"] if one["id"] == RESULT]
    return {name: found.get(name) for name in ("measured", "within", "verdict", "ablated", "ablation")}


def test_a_cause_has_the_verdict_of_its_ablation(own: CompileChoice) -> None:
    """Measured 0.5, without the cause 0.12, printed 0.1: 0.38 of the 0.4 between them disappear."""
    save({"vector-add": 0.4, "bfs": 0.6}, own)
    save({"vector-add": 0.1, "bfs": 0.14}, CompileChoice(**{**own.as_dict(), "schedule": False}))
    found = told()
    assert found == {
        "measured": pytest.approx(0.5),
        "within": False,
        "verdict": "shown",
        "ablated": pytest.approx(0.12),
        "ablation": "in the order of the source",
    }


def test_an_ablation_that_lacks_a_workload_has_no_verdict(own: CompileChoice) -> None:
    save({"vector-add": 0.4, "bfs": 0.6}, own)
    save({"vector-add": 0.1}, CompileChoice(**{**own.as_dict(), "schedule": False}))
    assert told()["verdict"] is None


def test_a_result_within_its_tolerance_has_no_verdict(own: CompileChoice) -> None:
    save({"vector-add": 0.1, "bfs": 0.1}, own)
    save({"vector-add": 0.5, "bfs": 0.5}, CompileChoice(**{**own.as_dict(), "schedule": False}))
    assert (told()["within"], told()["verdict"]) == (True, None)
