"""What the page of ``warpreg watch`` says of a command and of a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from warpreg.cache import jobs
from warpreg.cache.jobs import Job
from warpreg.cli import main
from warpreg.cli.watch import command
from warpreg.evaluation.runs.design_means import design_means
from warpreg.evaluation.sweep.errors import SweepWarning
from warpreg.evaluation.sweep.sweep import swept
from warpreg.report.loopback import Request
from warpreg.report.watch.page import routes
from warpreg.report.watch.state import MAX_FAILURES, state_of
from warpreg.report.watch.study import WatchedStudy, studies_in

STUDY = """
workloads = "vector-add"
sizes = "tiny"
seeds = 76
[[designs]]
name = "rfc"
parameters = { entries = [2, 4] }
"""


def job(state: str = "running", **values: Any) -> Job:
    common = {"command": ["sweep", "a b.toml"], "process": 7, "began": 1_000.0, "at": 1_060.0}
    return Job("one", state, {**common, "rows": [], "failures": [], "notes": [], **values})


def test_a_running_command_has_its_step_rate_and_end() -> None:
    """3 of 40 cells are measured in a minute and 17 were found: 20 are left, at 3 a minute in 400 seconds."""
    pace = {"began": 1_000.0, "done": 20, "found": 17, "total": 40}
    shown = state_of(job(step="measuring", pace=pace, unit="cells"), 1_060.0)
    assert shown["title"] == "warpreg sweep 'a b.toml'"
    assert (shown["done"], shown["total"], shown["step"]) == (20, 40, "measuring")
    assert shown["progress"].startswith("20 of 40 cells, 3.0 a minute, 06:40 left, ends ")
    assert shown["progress"].endswith(", 17 known before")
    assert "took 01:00" in shown["facts"]


def test_a_command_that_was_killed_has_no_end_time() -> None:
    pace = {"began": 1_000.0, "done": 30, "found": 0, "total": 40}
    shown = state_of(job("stopped", step="measuring", pace=pace, unit="cells"), 9_999.0)
    assert (shown["step"], shown["progress"]) == ("", "30 of 40 cells, 30.0 a minute")
    assert "last heard of" in shown["facts"]


def test_figures_are_means_of_each_design_so_far() -> None:
    """The mean of shares is (0.2 + 0.6) / 2, that of energies the root of 0.5 * 0.32."""
    rows = [
        {"design": "rfc", "elided": 0.2, "energy_normalized": 0.5, "cycles": 10},
        {"design": "mrf", "elided": 0.0, "energy_normalized": 1.0},
        {"design": "rfc", "elided": 0.6, "energy_normalized": 0.32},
    ]
    first, second = design_means(rows)
    assert first == {"design": "rfc", "results": 2, "elided": 0.4, "energy_normalized": pytest.approx(0.4)}
    assert second == {"design": "mrf", "results": 1, "elided": 0.0, "energy_normalized": 1.0}


def test_a_flood_of_failures_is_counted() -> None:
    failures = [{"what": str(number), "why": "no"} for number in range(MAX_FAILURES + 5)]
    shown = state_of(job(failures=failures), 1_060.0)
    assert (len(shown["failures"]), shown["more_failures"]) == (MAX_FAILURES, 5)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "entries.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.slow
def test_a_study_finds_the_cells_that_any_command_has_measured(study: Path) -> None:
    watched = WatchedStudy.open(study)
    swept(watched.batch, [1], workers=1)
    shown = watched.state()
    assert (shown["title"], shown["state"], shown["total"]) == ("study entries.toml", "unfinished", 2)
    assert shown["progress"] == "1 of 2 cells finished, 1 missing, 0 impossible"
    assert [row["design"] for row in shown["figures"]] == ["rfc(entries=2)"]
    swept(watched.batch, workers=1)
    assert watched.state()["state"] == "finished"
    answer = routes([watched])["GET", "/state"](Request())
    assert json.loads(answer.content)["studies"][0]["done"] == 2


@pytest.mark.slow
def test_a_sweep_notes_the_figures_and_failures_of_its_cells(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second value is out of range, so that its cell fails; a second sweep finds the first cell."""
    study.write_text(STUDY.replace("76", "77").replace("rfc", "orf-lrf").replace("[2, 4]", "[3, 99]"))
    monkeypatch.setattr(jobs, "PATIENCE_S", 0.0)
    monkeypatch.setattr(jobs, "INTERVAL_S", 0.0)
    monkeypatch.setattr(jobs, "cache_directory", lambda: tmp_path / "cache")
    for known in ("2 of 2 cells, 1 known before", "2 of 2 cells, 2 known before"):
        assert main(["sweep", str(study), "-j", "1", "--json"]) == 1
        shown = state_of(jobs.jobs()[0], 0.0)
        assert (shown["state"], shown["progress"]) == ("failed", known)
        assert [(one["design"], one["results"]) for one in shown["figures"]] == [("orf-lrf(entries=3)", 1)]
        assert shown["failures"][0]["what"] == "cell 2: vector-add, orf-lrf(entries=99)"
        assert "expects int from 0 to 16" in shown["failures"][0]["why"]
        for path in (tmp_path / "cache" / "jobs").iterdir():
            path.unlink()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workloads = 3", "entries.toml"),
        (f'{STUDY}\n[search]\ntrials = 3\nminimize = "energy_normalized"\n', "a search has no cells"),
    ],
)
def test_what_is_no_study_is_said(study: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    study.write_text(text)
    assert main(["watch", str(study), "--no-browser"]) == 1
    assert message in capsys.readouterr().err


def test_a_folder_without_studies_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path), "--no-browser"]) == 1
    expected = f"warpreg: {tmp_path}: neither a cache directory nor a folder with study files\n"
    assert capsys.readouterr().err == expected


def test_a_cache_directory_and_a_folder_of_studies_are_told_apart(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "mine"))
    monkeypatch.setattr("warpreg.report.loopback.LoopbackServer.run", lambda self, show: shown.append(self.routes))
    (tmp_path / "cache" / "jobs").mkdir(parents=True)
    (tmp_path / "results").mkdir()  # of the user, beside the study
    for folder in (tmp_path / "cache", tmp_path):
        assert CliRunner().invoke(command, [str(folder), "--no-browser"], catch_exceptions=False).exit_code == 0
    of_cache, of_studies = (json.loads(one["GET", "/state"](Request()).content) for one in shown)
    assert (of_cache["store"], of_cache["studies"]) == (str(tmp_path / "cache"), [])
    assert [one["title"] for one in of_studies["studies"]] == ["study entries.toml"]


def test_what_is_no_study_in_a_folder_is_named_and_the_others_are_shown(study: Path) -> None:
    (study.parent / "misspelt.toml").write_text('workloads = ["bfs"]')
    (study.parent / "folder.toml").mkdir()
    with pytest.warns(SweepWarning, match=r"not shown: .*misspelt.toml: designs: field required") as found:
        (shown,) = studies_in(study.parent)
    assert shown.path == study
    assert len(found) == 1
