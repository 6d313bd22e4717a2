"""The pages of reproduced results: every result has a row, figures are drawn from saved tables."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from tests.experiments.papers.test_bow import complete_study

from warpreg.experiments.papers.reproduction import figures_of, paper_module
from warpreg.experiments.runs.run import AS_COMPILED
from warpreg.experiments.studies.study import Study
from warpreg.report import reproduction_page
from warpreg.report.paper_figures import frame_path, write_frame
from warpreg.report.reproduction_page import (
    NO_CODES,
    PageError,
    ablations,
    left_out,
    main,
    page,
    reasons,
    results_by_code,
    table,
)


def row(name: str, measured: float | bool | None, within: bool | None, cause: str = "") -> dict[str, object]:
    return {
        "paper": "rc-rsp",
        "id": name,
        "where": "§1",
        "what": "energy",
        "published": [0.1, 0.25],
        "measured": measured,
        "unit": "ratio",
        "within": within,
        "null": 1.0,
        "could_fail": True,
        "cause": cause,
    }


ROWS = [row("a", 0.123456, True), row("b", True, True), row("c", 0.5, False, "the input"), row("d", None, None, "lost")]


def test_a_band_follows_its_value() -> None:
    banded = {**row("a", 0.5, True), "band": [0.45, 0.6]}
    assert "| 0.5 (0.45 to 0.6) |" in "\n".join(table([banded]))
    whole = "\n".join(page("rc-rsp", "small", 1, [banded], [], []))
    assert "as error bars and shades" in whole
    assert "as error bars and shades" not in "\n".join(page("rc-rsp", "small", 1, [row("a", 0.5, True)], [], []))


def test_the_table_counts_what_is_within_and_has_a_line_for_each_result() -> None:
    """Of three that are measured one could not have failed."""
    rows = [ROWS[0], {**ROWS[1], "null": "holds", "could_fail": False}, *ROWS[2:]]
    lines = list(table(rows))
    assert lines[0].replace("\n", " ").strip() == (
        "4 results, 3 measured; 2 of them could have failed, of which 1 are within tolerance;"
        " 1 have no null that could fail."
    )
    assert lines[3:] == [
        "| a | §1 | energy | 0.1 to 0.25 | 1 | 0.1235 | ratio | yes |",
        "| b | §1 | energy | 0.1 to 0.25 | would hold too | yes | ratio | (yes) |",
        "| c | §1 | energy | 0.1 to 0.25 | 1 | 0.5 | ratio | no |",
        "| d | §1 | energy | 0.1 to 0.25 | 1 |  | ratio |  |",
    ]


def test_results_of_which_the_same_is_said_stand_together() -> None:
    rows = [
        row("a", 0.5, False, "the input"),
        row("b", 0.6, False, "the model (--ablation x)"),
        row("c", 0.7, False, "the input"),
    ]
    assert list(reasons("## Why", rows)) == ["\n## Why\n", "- `a`, `c`: the input", "- `b`: the model (`--ablation x`)"]
    assert not list(reasons("## Why", []))
    assert list(reasons("## Why", rows, {"a": "shown", "c": "partly"}))[1] == "- `a` (shown), `c` (partly): the input"


def test_results_on_each_code_stand_beside_each_other() -> None:
    """Bold is within tolerance.  Of the two results one could not have failed, and does not count."""
    said = {"title": "native code", "source": "section 4.1", "options": {}}
    own = {"id": "a", "published": 0.5, "could_fail": True, "measured": {"native": 0.51, "modern": 0.7}}
    sure = {"id": "b", "published": 0.0, "could_fail": False, "measured": {"native": 0.0}, "within": {"native": True}}
    rows = [{**own, "within": {"native": True, "modern": False}}, sure, {**sure, "id": "c", "measured": {}}]
    codes = {"codes": {"native": said, "modern": {**said, "title": "today's", "source": ""}}, "results": rows}
    lines = list(results_by_code("rfc", "tiny", codes))
    assert lines[0] == "\n## Code"
    assert "measured on the code `native`: native code." in lines[1].replace("\n", " ")
    assert lines[2:] == [
        "- `native` (1 results within tolerance), native code: section 4.1",
        "- `modern` (0 results within tolerance), today's",
        "",
        "| result | published | native | modern |",
        "| --- | --- | --- | --- |",
        "| a | 0.5 | **0.51** | 0.7 |",
        "| b | 0 | **0** |  |",
    ]
    assert not list(results_by_code("rfc", "tiny", NO_CODES))


def shown(one: dict[str, object], ablated: float, share: float | None, verdict: str) -> dict[str, object]:
    ablation = {"ablation": "no-input", "title": "without it"}
    return {**one, "ablated": ablated, "share": share, "within": ablated < 0.4, "verdict": verdict, **ablation}


def test_results_outside_their_tolerance_stand_beside_what_ablations_show() -> None:
    """Of 0.5, where 0.25 is the nearest that is printed, three fifths go away; of the other nothing is blamed."""
    rows = [*ROWS, row("e", 0.9, False)]
    lines = list(ablations("rc-rsp", "tiny", rows, [shown(ROWS[0], 0.35, 0.6, ""), shown(ROWS[2], 0.35, 0.6, "shown")]))
    assert "Of these 2 results, the cause of 1 is shown, of 0 in part; 1 are not explained." in lines[0]
    assert "`warpreg reproduce rc-rsp --ablation all --size tiny`" in lines[0].replace("\n", " ")
    assert lines[3:] == [
        "| c | 0.1 to 0.25 | 0.5 | 0.35 | 0.60 | yes | shown | no-input |",
        "| e | 0.1 to 0.25 | 0.9 |  |  |  | not explained |  |",
        "",
        "- `no-input`: without it",
    ]
    assert not list(ablations("rc-rsp", "tiny", ROWS, []))


def test_results_that_the_paper_contradicts_stand_apart() -> None:
    """Of two results outside their tolerance, one has an ablation, and the other is not called unexplained."""
    barred = {
        **row("e", 0.9, False),
        "status": "contradicted",
        "cause": "contradicted by the paper itself: at most 0.2",
    }
    lines = list(page("rc-rsp", "tiny", 2, [*ROWS, barred], [shown(ROWS[2], 0.35, 0.6, "shown")], []))
    text = "\n".join(lines).replace("\n", " ")
    assert "Of these 1 results" in text
    assert "0 are not explained; 1 more are contradicted by the paper itself." in text
    assert "and 1 contradicted by the paper itself" in text
    at = lines.index("\n## Results that the paper itself contradicts\n")
    assert lines[at + 1] == "- `e`: contradicted by the paper itself: at most 0.2"


def test_what_a_paper_sums_up_stands_at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    comment = "<!-- Generated by `python -m warpreg.report.reproduction_page`. -->"
    table = "The table compares every result that the paper reports with the value measured on"
    assert next(page("rc-rsp", "tiny", 2, ROWS, [], [])).splitlines()[2:5] == [comment, "", table]
    monkeypatch.setattr("warpreg.report.reproduction_page.summary_of", lambda paper: "It was reproduced.")
    top = next(page("rc-rsp", "tiny", 2, ROWS, [], [])).splitlines()[2:7]
    assert top == [comment, "", "It was reproduced.", "", table]


def test_a_page_can_be_made_of_new_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here of none: the area of added hardware needs no runs."""
    module = "warpreg.report.reproduction_page"
    nothing = Study("tiny", AS_COMPILED, {one: {} for one in paper_module("tfet").MEASURES})
    monkeypatch.setattr(f"{module}.measure", lambda *args, **options: nothing)
    monkeypatch.setattr(f"{module}.compare", lambda *args, **options: [])
    monkeypatch.setattr(f"{module}.figures_of", lambda paper: ())
    (tmp_path / "reference").mkdir()
    done = CliRunner().invoke(main, ["tfet", "--size", "tiny", "--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "| tfet-renaming-area |" in (tmp_path / "reference" / "reproduction-tfet.md").read_text()


def test_workloads_that_were_left_out_are_named() -> None:
    assert not list(left_out(ROWS))
    lines = list(left_out([{**ROWS[0], "left_out": {"wp": "left out of 2 of 9 measures: too large"}}]))
    assert lines == ["\n## Excluded workloads\n", "- `wp`: left out of 2 of 9 measures: too large"]


def test_a_page_is_made_of_saved_results_and_tables(tmp_path: Path) -> None:
    figures = {figure.name: figure for figure in figures_of("rc-rsp")}
    for name, frame in (
        ("figure-8", pd.DataFrame({"RSP KB": [2, 4], "normalized energy": [0.5, 0.4]})),
        ("figure-4", pd.DataFrame(columns=["workload", "cache", "normalized energy"])),
        ("scheduler", pd.DataFrame({"workload": ["bfs", "nn"], "what": ["RC", "RC"], "ratio": [1.0, 1.1]})),
    ):
        write_frame(figures[name], frame, frame_path("rc-rsp", figures[name], tmp_path))
    (tmp_path / "rc-rsp.json").write_text(json.dumps({"summary": [], "results": ROWS}))
    judged = shown(ROWS[2], 0.45, None, "not explained")
    (tmp_path / "rc-rsp-ablations.json").write_text(json.dumps([judged]))
    docs = tmp_path / "docs"
    (docs / "reference").mkdir(parents=True)
    done = CliRunner().invoke(main, ["rc-rsp", "--from", str(tmp_path), "--docs", str(docs)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (docs / "reference" / "reproduction-rc-rsp.md").read_text()
    assert "| c | §1 |" in page
    assert "| c | 0.1 to 0.25 | 0.5 | 0.45 |  | no | not explained | no-input |" in page
    assert "on\n2 workloads" in page
    assert page.count("![") == 2
    assert (docs / "images" / "reproduction" / "rc-rsp-figure-8.svg").stat().st_size < 50_000
    assert "](../images/reproduction/rc-rsp-figure-8.svg)" in page


def test_a_page_is_made_of_what_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No ablation is measured."""
    monkeypatch.setattr(reproduction_page, "measure", lambda *given, **named: complete_study())
    monkeypatch.setattr(reproduction_page, "compare", lambda *given, **named: ())
    (tmp_path / "reference").mkdir()
    done = CliRunner().invoke(main, ["bow", "--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (tmp_path / "reference" / "reproduction-bow.md").read_text()
    assert "\n49 results, 45 measured, 4 quoted" in page
    assert page.count("![") == len(figures_of("bow"))


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"rfc\.json: expected the results"):
        CliRunner().invoke(main, ["rfc", "--from", str(tmp_path)], catch_exceptions=False)
