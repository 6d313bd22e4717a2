"""Comparisons find rows that were kept: the same bytes, without a run; what the key does not cover is measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from warpreg.cli import main
from warpreg.experiments.runs.comparing import Making

Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Workloads that have run since, with an empty store of results and the shared compiled code."""
    monkeypatch.setattr("warpreg.cache.store.RESULTS", tmp_path.name)  # a kind that only this test has
    found: list[str] = []
    make = Making.run

    def counted(self: Making, name: str) -> object:
        found.append(name)
        return make(self, name)

    monkeypatch.setattr(Making, "run", counted)
    return found


def told(capsys: Output, *arguments: str, status: int = 0) -> str:
    assert main(["compare", *arguments, "--size", "tiny", "-j", "1"]) == status
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("form", ["--json", "--csv", ""])
def test_the_second_comparison_prints_the_same_bytes_without_a_run(form: str, runs: list[str], capsys: Output) -> None:
    options = ["vector-add", "reduction", "--designs", "mrf,rfc", "--technology", "common-40nm", *form.split()]
    first = told(capsys, *options)
    assert runs == ["vector-add", "reduction"]
    assert told(capsys, *options) == first
    assert runs == ["vector-add", "reduction"]
    assert told(capsys, *options, "--recompute") == first
    assert runs == ["vector-add", "reduction"] * 2


@pytest.mark.slow
def test_timed_rows_against_another_baseline_come_back(runs: list[str], capsys: Output) -> None:
    options = ["vector-add", "--designs", "mrf,rfc", "--cycles", "--machine", "gtx480"]
    first = told(capsys, *options, "--baseline", "rfc")
    assert "speed" in first
    assert told(capsys, *options, "--baseline", "rfc") == first
    assert told(capsys, *options).count("vector-add") == 2
    assert runs == ["vector-add"]


@pytest.mark.slow
def test_only_what_is_new_is_measured_and_a_sweep_finds_it(runs: list[str], tmp_path: Path, capsys: Output) -> None:
    alone = told(capsys, "vector-add", "--designs", "rfc", "--csv")
    both = told(capsys, "vector-add", "--designs", "mrf,rfc", "--csv")
    assert runs == ["vector-add"] * 2
    assert alone.splitlines()[1].split(",")[:2] == both.splitlines()[2].split(",")[:2] == ["vector-add", "rfc"]
    study = tmp_path / "study.toml"
    study.write_text('workloads = "vector-add"\nsizes = "tiny"\n[[designs]]\nname = "rfc"\n', encoding="utf-8")
    assert main(["sweep", str(study), "--status"]) == 0
    assert capsys.readouterr().out.endswith("1 cells, 1 finished, 0 missing\n")


@pytest.mark.slow
def test_a_design_file_is_measured_each_time(runs: list[str], tmp_path: Path, capsys: Output) -> None:
    """It may import other files."""
    shutil.copy(ROOT / "examples" / "my_design.py", tmp_path)
    options = ["vector-add", "--designs", "mrf", "--design", str(tmp_path / "my_design.py"), "--json"]
    assert told(capsys, *options) == told(capsys, *options)
    assert runs == ["vector-add"] * 2


@pytest.mark.slow
def test_a_failed_run_comes_after_the_rows_that_are_known(runs: list[str], capsys: Output) -> None:
    told(capsys, "vector-add", "--designs", "mrf", "--csv")
    known = told(capsys, "vector-add", "--designs", "mrf,rfc", "--max-instructions", "10", "--csv", status=1)
    assert known == ""  # a limit holds for all
