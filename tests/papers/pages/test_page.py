"""The page of a reproduced paper: every result has a row, and stands with the reason for its difference."""

from __future__ import annotations

import pytest

from warpreg_papers.complete import NO_CODES, PaperReport
from warpreg_papers.pages.page import ablations, left_out, page, reasons, results_by_code, table

Row = dict[str, object]


def row(name: str, measured: float | bool | None, within: bool | None, cause: str = "") -> Row:
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


def text_of(*rows: Row) -> str:
    return "\n".join(page(PaperReport("rc-rsp", "small", 1, rows), []))


ROWS = [row("a", 0.123456, True), row("b", True, True), row("c", 0.5, False, "the input"), row("d", None, None, "lost")]


def test_a_band_follows_its_value() -> None:
    banded = {**row("a", 0.5, True), "band": [0.45, 0.6]}
    assert "| 0.5 (0.45 to 0.6) |" in "\n".join(table([banded]))
    assert "as error bars and shades" in text_of(banded)
    assert "as error bars and shades" not in text_of(row("a", 0.5, True))


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


def ablated(one: Row, value: float, share: float | None, verdict: str) -> Row:
    ablation = {"ablation": "no-input", "title": "without it"}
    return {**one, "ablated": value, "share": share, "within": value < 0.4, "verdict": verdict, **ablation}


def test_results_outside_their_tolerance_stand_beside_what_ablations_show() -> None:
    """Of 0.5, where 0.25 is the nearest that is printed, three fifths go away; of the other nothing is blamed."""
    rows = [*ROWS, row("e", 0.9, False)]
    lines = list(
        ablations("rc-rsp", "tiny", rows, [ablated(ROWS[0], 0.35, 0.6, ""), ablated(ROWS[2], 0.35, 0.6, "shown")])
    )
    assert "Of these 2 results, the cause of 1 is shown, of 0 in part; 1 are not explained." in lines[0]
    assert "`warpreg reproduce rc-rsp --ablation all --size tiny`" in lines[0].replace("\n", " ")
    assert lines[3:] == [
        "| c | 0.1 to 0.25 | 0.5 | 0.35 | 0.60 | yes | shown | no-input |",
        "| e | 0.1 to 0.25 | 0.9 |  |  |  | not explained |  |",
        "",
        "- `no-input`: without it",
    ]
    assert not list(ablations("rc-rsp", "tiny", ROWS, []))


@pytest.mark.parametrize(
    ("status", "value", "heading", "summed", "shown"),
    [
        ("contradicted", {"allowed": 0.2}, "that the paper itself contradicts", "contradicted by", "0.2 allowed"),
        ("out of reach", {"limit": 0.3}, "out of reach", "out of reach of any design", "limit 0.3"),
        ("other reading", {"otherwise": 0.24}, "by another reading", "within", "0.24 by the other reading"),
    ],
)
def test_results_that_need_no_ablation_stand_apart(
    status: str, value: Row, heading: str, summed: str, shown: str
) -> None:
    """Of two results outside their tolerance, one has an ablation, and the other is not called unexplained."""
    apart = {**row("e", 0.9, False, "it cannot be"), "status": status, **value}
    found = PaperReport("rc-rsp", "tiny", 2, [*ROWS, apart], [ablated(ROWS[2], 0.35, 0.6, "shown")])
    lines = list(page(found, []))
    text = "\n".join(lines).replace("\n", " ")
    assert "Of these 1 results" in text
    assert f"0 are not explained; 1 more are {summed}" in text
    at = lines.index(f"\n## Results {heading}\n")
    assert lines[at + 1] == f"- `e` ({shown}): it cannot be"


def test_what_a_paper_sums_up_stands_at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    comment = "<!-- Generated by `warpreg reproduce --pages docs`. -->"
    table = "The table compares every result that the paper reports with the value measured on"
    monkeypatch.setattr("warpreg_papers.pages.page.summary_of", lambda paper: "")
    assert text_of(*ROWS).splitlines()[2:5] == [comment, "", table]
    monkeypatch.setattr("warpreg_papers.pages.page.summary_of", lambda paper: "It was reproduced.")
    assert text_of(*ROWS).splitlines()[2:7] == [comment, "", "It was reproduced.", "", table]


def test_workloads_that_were_left_out_are_named() -> None:
    assert not list(left_out(ROWS))
    lines = list(left_out([{**ROWS[0], "left_out": {"wp": "left out of 2 of 9 measures: too large"}}]))
    assert lines == ["\n## Excluded workloads\n", "- `wp`: left out of 2 of 9 measures: too large"]
