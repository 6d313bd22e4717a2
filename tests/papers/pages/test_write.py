"""Pages, pictures and results as files, and the command that writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.papers.test_bow import complete_study

from warpreg_papers import complete as everything
from warpreg_papers import renewed as again
from warpreg_papers.command import command
from warpreg_papers.complete import PaperReport, complete, steps_of
from warpreg_papers.pages.write import PageError, read_page, write_overview, write_page
from warpreg_papers.reproduction import explained, figures_of, paper_module


@pytest.fixture
def bow(monkeypatch: pytest.MonkeyPatch) -> PaperReport:
    """The bypassing collectors, with made-up findings that are the same under every ablation."""

    def measure(*given: object, progress: everything.Progress, **named: object) -> object:
        for name in paper_module("bow").WORKLOADS:
            progress(name)
        return complete_study()

    monkeypatch.setattr(everything, "measure", measure)
    monkeypatch.setattr(everything, "under_ablation", lambda *given, **named: {})
    return complete("bow", "tiny")


def test_a_page_is_written_with_its_pictures_and_results(bow: PaperReport, tmp_path: Path) -> None:
    page = write_page(bow, tmp_path).read_text()
    assert "\n49 results, 45 measured, 4 quoted" in page
    assert page.count("![") == len(figures_of("bow"))
    for figure in figures_of("bow"):
        assert f"](../images/reproduction/bow-{figure.name}.svg)" in page
        assert (tmp_path / "images" / "reproduction" / f"bow-{figure.name}.svg").stat().st_size < 100_000
    saved = json.loads((tmp_path / "reference" / "reproduction" / "bow.json").read_text())
    assert PaperReport.of(saved) == replace(bow, frames=())


def test_the_page_over_all_is_made_of_the_results_that_are_there(bow: PaperReport, tmp_path: Path) -> None:
    write_page(bow, tmp_path)
    write_page(replace(bow, paper="rfc", frames=(), rows=bow.rows[:1]), tmp_path)
    text = write_overview(tmp_path).read_text()
    assert text.index("(reproduction-rfc.md)") < text.index("(reproduction-bow.md)")
    assert "(reproduction-corf.md)" not in text
    assert "for want of results: orf-lrf, rc-rsp, corf, regmutex, tfet, larf." in text.replace("\n", " ")


def test_an_ablation_is_measured_if_a_result_outside_its_tolerance_needs_it(
    bow: PaperReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress counts the runs of the others too.  A result that is counted apart needs none."""
    measured: list[str] = []

    def under_ablation(paper: str, name: str, *given: object, **named: object) -> dict[str, float]:
        measured.append(name)
        return {}

    monkeypatch.setattr(everything, "under_ablation", under_ablation)
    monkeypatch.setattr(everything, "_needed", lambda paper, rows: {"ptx-order"})
    steps: list[str] = []
    complete("bow", "tiny", progress=steps.append)
    assert measured == ["ptx-order"]
    skipped = [step for step in steps if "not needed" in step]
    others = len(explained("bow").ABLATIONS) - 1
    assert len(skipped) == others * len(paper_module("bow").WORKLOADS)
    rows = [{"id": "bow-oc-cycles-iw3", "within": within, "status": "measured"} for within in (True, False)]
    monkeypatch.undo()
    assert everything._needed("bow", rows[:1]) == set()
    assert everything._needed("bow", rows) == {"any-ports"}
    assert everything._needed("bow", [{**rows[1], "status": "out of reach"}]) == set()


def test_a_file_of_something_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "reference" / "reproduction" / "rfc.json"
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    with pytest.raises(PageError, match=r"rfc\.json: expected results that warpreg reproduce --pages wrote"):
        write_overview(tmp_path)


def test_the_command_writes_all_and_shows_progress(bow: PaperReport, tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["bow", "--pages", str(tmp_path), "--size", "tiny"])
    assert done.exit_code == 0, done.output
    lines = done.stderr.splitlines()
    assert lines[0] == f"1 of {steps_of('bow')}, bow, results: lib"
    assert lines[-2:] == [
        f"wrote {tmp_path / 'reference' / 'reproduction-bow.md'}",
        f"wrote {tmp_path / 'reference' / 'reproduction.md'}",
    ]


@pytest.mark.parametrize("more", [["--json"], ["--fresh"], ["--code", "all"], ["--no-schedule"]])
def test_pages_measure_a_paper_as_it_is(more: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["rfc", "--pages", str(tmp_path), *more])
    assert done.exit_code == 2
    assert "--pages measures a paper as it is" in done.stderr
    assert not list(tmp_path.iterdir())


def test_results_of_an_ablation_are_written_into_a_page(
    bow: PaperReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page keeps its pictures and its other results."""
    write_page(bow, tmp_path)
    asked: list[list[str]] = []

    def renewed(page: PaperReport, results: list[str], processes: int | None, progress: object) -> PaperReport:
        asked.append(results)
        return replace(page, rows=[{**page.rows[0], "measured": 0.5}, *page.rows[1:]])

    monkeypatch.setattr(again, "renewed", renewed)
    done = CliRunner().invoke(command, ["bow", "--pages", str(tmp_path), "--ablation", "any-ports"])
    assert done.exit_code == 0, done.output
    assert asked == [["bow-oc-cycles-iw3"]]
    page = (tmp_path / "reference" / "reproduction-bow.md").read_text()
    assert page.count("](../images/reproduction/bow-") == len(figures_of("bow"))
    assert read_page("bow", tmp_path).rows[0]["measured"] == 0.5


def test_a_page_that_is_not_there_cannot_be_renewed(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["bow", "--pages", str(tmp_path), "--results", "bow-oc-time-share"])
    assert isinstance(done.exception, PageError)
    assert "bow.json: expected results that warpreg reproduce bow --pages wrote, found none" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bow", "--results", "bow-oc-time-share"], "--results requires --pages"),
        (["bow", "rfc", "--pages", "x", "--results", "bow-oc-time-share"], "requires exactly one paper"),
    ],
)
def test_results_are_those_of_the_page_of_a_paper(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 2
    assert message in done.stderr
