"""The page over all papers: what became of each result that could fail, by paper and by what it is about."""

from __future__ import annotations

from dataclasses import replace

from warpreg_papers.complete import PaperReport
from warpreg_papers.pages.overview import overview
from warpreg_papers.reproduction import PAPERS


def row(name: str, kind: str, within: bool | None, status: str = "measured", **more: object) -> dict[str, object]:
    measured = None if within is None else 0.5
    found = {"id": name, "what": f"the {name}", "kind": kind, "published": 0.1, "measured": measured, "within": within}
    return {**found, "status": status, "could_fail": True, "cause": "", **more}


def ablated(name: str, verdict: str) -> dict[str, object]:
    return {"id": name, "verdict": verdict, "ablation": "x", "title": "without x"}


RFC = PaperReport(
    "rfc",
    "tiny",
    2,
    [
        row("hits", "accesses", True),
        row("loss", "time", False, cause="input: few warps (--ablation x)"),
        row("gain", "time", False, cause="not explained; remark: nobody knows"),
        row("sure", "time", True, could_fail=False),
        row("said", "energy", None, "quoted"),
        row("odd", "energy", False, cause="model: y (--ablation y)"),
    ],
    [ablated("loss", "shown"), ablated("odd", "not explained")],
    lessons=("few entries suffice",),
)
BOW = PaperReport(
    "bow",
    "tiny",
    2,
    [
        row("most", "time", False, "out of reach", limit=0.2),
        row("both", "energy", False, "contradicted", allowed=0.2),
        row("half", "energy", False, "other reading", otherwise=0.1),
        row("bare", "code", False, cause="not explained"),
    ],
)
LINES = list(overview([RFC, BOW]))


def test_every_result_that_could_fail_has_one_outcome() -> None:
    """Of rfc, four of six are measured and could fail: reached 1, shown 1, not explained 2."""
    at = next(place for place, line in enumerate(LINES) if line.startswith("| paper |"))
    assert LINES[at].endswith(
        "| results | reached | shown | partly | out of reach | other reading | contradicted | not explained |"
    )
    assert [line.partition(") | ")[2] for line in LINES[at + 2 : at + 4]] == [
        "4 | 1 | 1 | 0 | 0 | 0 | 0 | 2 |",
        "4 | 0 | 0 | 0 | 1 | 1 | 1 | 1 |",
    ]
    assert LINES[at + 4] == "| all | 8 | 1 | 1 | 0 | 1 | 1 | 1 | 3 |"


def test_papers_without_results_are_named() -> None:
    text = "\n".join(LINES)
    assert "Not among them, for want of results: orf-lrf, rc-rsp, corf, regmutex, tfet, larf." in text
    assert "want of results" not in "\n".join(overview([replace(RFC, paper=paper) for paper in PAPERS]))


def test_papers_have_their_titles_below_the_table() -> None:
    assert LINES.index("- `rfc`: Register file cache and two-level scheduler (ISCA 2011)") > LINES.index(
        "- *reached*: within the tolerance"
    )


def test_outcomes_are_counted_by_what_a_result_is_about() -> None:
    assert "| cycles | 3 | 0 | 1 | 0 | 1 | 0 | 0 | 1 |" in LINES
    assert "| energy | 3 | 0 | 0 | 0 | 0 | 1 | 1 | 1 |" in LINES
    assert "| accesses by level | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in LINES


def test_the_introduction_adds_up() -> None:
    """8 = 1 reached + 3 explained + 1 contradicted + 3 not explained."""
    text = LINES[0].replace("\n", " ")
    assert "print 8 results that could fail" in text
    assert "1 of them are reached; the differences of 3 are explained" in text
    assert "1 are contradicted by other numbers of their own paper; 3 are not explained" in text


def test_what_is_not_explained_stands_with_what_was_observed() -> None:
    at = LINES.index("\n## Not explained\n")
    assert LINES[at + 1 :] == [
        "- `gain`, the gain: nobody knows",
        "- `odd`, the odd: supposed, and not shown by the ablation: model: y (--ablation y)",
        "- `bare`, the bare: nothing was found",
    ]


def test_lessons_are_those_of_the_papers() -> None:
    assert LINES[LINES.index("\n## What a designer learns\n") + 1] == "- few entries suffice"
    assert not any("learns" in line for line in overview([BOW]))
