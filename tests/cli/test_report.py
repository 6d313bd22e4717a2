"""`warpreg report`: finished and missing cells of a study, all kept results, reproductions; the messages of errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.page.synthetic import row

from warpreg.cache import store
from warpreg.cli import main
from warpreg.evaluation.runs.row import LevelUse, Provenance, Row
from warpreg.evaluation.studies import findings
from warpreg.evaluation.studies.study import NOT_SAVED, Replay, Usage, saved
from warpreg.evaluation.sweep import batch
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of
from warpreg_papers import reproduction

Output = pytest.CaptureFixture[str]
STUDY = """
workloads = ["bfs", "nw"]
sizes = "tiny"
[[designs]]
name = "rfc"
parameters = { entries = [4, 6, 99] }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of six cells, of which two are impossible, with an empty cache."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "entries.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def made_up(workload: str) -> Row:
    """A row without a run."""
    levels = {"MRF": LevelUse(60, 40, 6.0, 4.0), "RFC": LevelUse(40, 60, 2.0, 1.0)}
    provenance = Provenance("0" * 12, "m", "1" * 12, "t", "2" * 12, "3" * 12, "0.1.0", {"size": "tiny"})
    return Row(workload, "rfc", {"entries": 4}, 1000, levels, LevelUse(100, 80, 12.0, 8.0), provenance)


def finish(file: Path, *numbers: int) -> Batch:
    """Keep made-up results of some cells."""
    found = batch_of(read_study(file), file.parent)
    for number in numbers:
        key = found.keys[number - 1]
        assert key is not None
        batch.keep(key, made_up(found.cells[number - 1].made.workload))
    return found


def data(page: Path) -> dict[str, Any]:
    """The data of a page."""
    (text,) = re.findall(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def told(capsys: Output, *arguments: str) -> str:
    """The line that a failed command prints."""
    assert main(["report", *arguments]) == 1
    found = capsys.readouterr().err
    assert found.count("\n") == 1
    return found


def test_a_study_with_its_missing_and_failed_cells(file: Path, capsys: Output) -> None:
    finish(file, 1, 4)
    assert main(["report", str(file)]) == 0
    assert capsys.readouterr().err.startswith("wrote report.html: 2 results, ")
    found = data(Path("report.html"))
    assert (found["title"], len(found["results"])) == ("entries", 2)
    assert [(one["cell"], one["design"], one["failed"]) for one in found["missing"]] == [
        (2, "rfc(entries=6)", False),
        (3, "rfc(entries=99)", True),
        (5, "rfc(entries=6)", False),
        (6, "rfc(entries=99)", True),
    ]
    assert found["missing"][0]["reason"].endswith(f"'warpreg sweep {file} --only 2' tells")
    assert found["missing"][1]["reason"].startswith("rfc: parameter entries expects int from 0 to 16 ")


def test_every_result_of_the_present_code(file: Path, capsys: Output) -> None:
    finish(file, 4, 1)
    store.write(store.RESULTS, "0123456789ab-of-other-code", json.dumps(row("lud", "rfc", 0, 4)).encode())
    assert main(["report", "--output", "all.html", "--json"]) == 0
    bytes_written = Path("all.html").stat().st_size
    assert json.loads(capsys.readouterr().out) == {
        "file": "all.html", "bytes": bytes_written, "results": 2, "missing": 0, "papers": [],
    }  # fmt: skip
    assert [run["workload"] for run in data(Path("all.html"))["runs"]] == ["bfs", "nw"]


def test_bad_input_is_one_line(file: Path, capsys: Output) -> None:
    assert "no result of the present code is in " in told(capsys)
    assert f"{file}: none of 6 cells is finished; run 'warpreg sweep {file}' first" in told(capsys, str(file))
    assert "no reproduced paper named 'rfd'" in told(capsys, "--papers", "rfd")
    assert "rfc: no measurement of size tiny is saved; run 'warpreg reproduce rfc --size tiny' first" in told(
        capsys, "--papers", "rfc", "--size", "tiny"
    )
    finish(file, 1)
    assert told(capsys, str(file), "--output", f"{file}/report.html") == f"warpreg: {file}: File exists\n"
    file.write_text(STUDY + '[search]\ntrials = 3\nmaximize = "elided"\n', encoding="utf-8")
    assert "a search has no cells" in told(capsys, str(file))


def test_saved_measurements_alone_are_shown(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = reproduction.paper_module("rfc")
    monkeypatch.setattr(module, "WORKLOADS", ["vector-add", "bfs"])
    monkeypatch.setattr(module, "MEASURES", [Usage()])
    monkeypatch.setattr(module, "findings", lambda found: {})
    monkeypatch.setattr(module, "UNMEASURABLE", {})
    monkeypatch.setattr(reproduction.explained("rfc"), "CAUSES", {})
    monkeypatch.setattr(reproduction.explained("rfc"), "REMARKS", {})
    choice = reproduction.code_of("rfc").choice
    key = findings.key_of(Usage(), "vector-add", "tiny", choice)
    assert key is not None
    findings.keep(key, "measured")
    found = saved(["vector-add", "bfs"], [Usage(), Replay.of("mrf")], "tiny", choice)
    assert found[Usage()] == {"vector-add": "measured"}
    assert found.left_out == {
        Usage(): {"bfs": NOT_SAVED},
        Replay.of("mrf"): dict.fromkeys(("vector-add", "bfs"), NOT_SAVED),
    }
    assert main(["report", "--papers", "rfc", "--size", "tiny"]) == 0
    (paper,) = data(Path("report.html"))["papers"]
    assert (paper["paper"], paper["saved"], paper["wanted"]) == ("rfc", 1, 2)
    assert {one["status"] for one in paper["results"]} <= {"not measured", "quoted"}
