"""Results of a page that are measured again with their evidence, without the rest of the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.papers.test_bow import complete_study

from warpreg.ir.errors import UnknownNameError
from warpreg_papers import complete as everything
from warpreg_papers import renewed as again
from warpreg_papers.bow import designs
from warpreg_papers.complete import PaperReport, Row, complete
from warpreg_papers.reproduction import ReproductionError, explained, paper_module

SHARE, CYCLES = "bow-oc-time-share", "bow-oc-cycles-iw3"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> PaperReport:
    """A page of made-up findings, which are the same under every ablation."""
    monkeypatch.setattr(everything, "measure", lambda *given, **named: complete_study())
    monkeypatch.setattr(everything, "under_ablation", lambda *given, **named: {})
    return complete("bow", "tiny")


def row_of(rows: Any, result: str) -> Row:
    return next(row for row in rows if row["id"] == result)


def test_a_reading_needs_the_measures_of_its_part() -> None:
    needs = again.needs_of("bow", [SHARE])
    assert needs.only == {designs.PLAIN: list(designs.WORKLOADS)}
    assert (needs.ablations, needs.codes) == ([], {})
    assert again.steps_of("bow", [SHARE]) == len(designs.WORKLOADS)


def test_a_cause_needs_the_parts_of_its_ablation_and_its_runs() -> None:
    needs = again.needs_of("bow", again.caused_by("bow", "any-ports"))
    assert needs.only.keys() == {
        one for part in ("cycles", "collection") for one in paper_module("bow").PARTS[part].measures
    }
    assert needs.ablations == ["any-ports"]
    assert again.steps_of("bow", [CYCLES]) == 2 * len(designs.WORKLOADS)


def test_a_contradiction_needs_nothing() -> None:
    assert again.steps_of("bow", ["bow-three-source-none"]) == 0


def test_what_nothing_says_how_to_measure_needs_the_whole_page() -> None:
    with pytest.raises(ReproductionError, match="bow-sensitivity-sad: expected parts or measures of its limit"):
        again.needs_of("bow", ["bow-sensitivity-sad"])
    with pytest.raises(UnknownNameError):
        again.needs_of("bow", ["bow-nothing"])
    with pytest.raises(UnknownNameError):
        again.caused_by("bow", "nothing")


def test_a_result_and_its_ablation_take_the_place_of_those_on_the_page(
    page: PaperReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the ablation the saving is that of the made-up samples; with it, it is 0.6 as printed: a share of 1."""
    monkeypatch.setattr(again, "study", lambda *given, **named: complete_study())
    monkeypatch.setattr(again, "under_ablation", lambda *given, **named: {CYCLES: 0.6, "bow-ipc-iw3": 0.11})
    measured = row_of(page.rows, CYCLES)["measured"]
    old = [{**row, "measured": 0.1} if row["id"] == CYCLES else row for row in page.rows]
    found = again.renewed(replace(page, rows=old), [CYCLES])
    assert row_of(found.rows, CYCLES)["measured"] == measured
    shown = row_of(found.ablated, CYCLES)
    assert (shown["measured"], shown["ablated"], shown["share"], shown["verdict"]) == (measured, 0.6, 1.0, "shown")
    assert [row["id"] for row in found.ablated].count(CYCLES) == 1
    others = [row for row in page.rows if row["id"] != CYCLES]
    assert [row for row in found.rows if row["id"] != CYCLES] == others


def test_what_is_said_of_other_results_is_that_of_today(page: PaperReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contradiction that the page does not know sets its result apart, and a cause that it has is forgotten."""
    monkeypatch.setattr(again, "study", lambda *given, **named: complete_study())
    contradicted = "bow-three-source-none"
    assert row_of(page.rows, contradicted)["within"] is False
    old = [
        {**{key: value for key, value in row.items() if key != "allowed"}, "status": "measured", "cause": "once"}
        if row["within"] is False
        else row
        for row in page.rows
    ]
    found = again.renewed(replace(page, rows=old, ablated=[{"id": SHARE, "ablation": "any-ports"}]), [])
    row = row_of(found.rows, contradicted)
    assert (row["status"], row["allowed"]) == ("contradicted", -2)
    assert row["cause"] != "once"
    assert list(found.ablated) == []


def test_an_ablation_that_compiles_a_code_of_the_paper_takes_the_results_of_the_page() -> None:
    """The order of the PTX is a code of `rfc`: no run is needed."""
    result = "rfc-active-thread-reduction"
    assert explained("rfc").CAUSES[result].ablation == "source-order"
    row = {"id": result, "measured": 5.3, "within": False, "status": "measured", "cause": "once", "could_fail": True}
    codes = {"codes": {}, "results": [{"id": result, "measured": {"native": 5.3, "source-order": 4.0}}]}
    assert again.steps_of("rfc", [result]) == 0
    found = again.renewed(PaperReport("rfc", "tiny", 1, [row], codes=codes), [result])
    assert [(one["ablated"], one["verdict"]) for one in found.ablated] == [(4.0, "shown")]
    assert found.rows[0]["measured"] == 5.3
