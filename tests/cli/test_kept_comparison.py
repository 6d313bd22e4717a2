"""Comparisons find rows that were kept: the same bytes, without a run; what the key does not cover is measured.

After a comparison, one with a changed input prints what it prints without kept rows.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.sass.vector_add import write_vector_add

from warpreg import energy, gpu
from warpreg.cli import main
from warpreg.evaluation.runs.comparing import RunOptions

Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Workloads that have run since, with an empty store of results and the shared compiled code."""
    monkeypatch.setattr("warpreg.cache.store.RESULTS", tmp_path.name)  # a kind that only this test has
    found: list[str] = []
    make = RunOptions.run

    def counted(self: RunOptions, name: str) -> object:
        found.append(name)
        return make(self, name)

    monkeypatch.setattr(RunOptions, "run", counted)
    return found


def told(capsys: Output, *arguments: str, status: int = 0) -> str:
    assert main(["compare", "--size", "tiny", "-j", "1", *arguments]) == status
    return capsys.readouterr().out


def same_as_fresh(capsys: Output, runs: list[str], *options: str) -> str:
    """What a comparison prints, which must be measured, and be what is printed without kept rows."""
    before = len(runs)
    found = told(capsys, *options)
    assert len(runs) == before + 1
    assert told(capsys, *options) == found
    assert len(runs) == before + 1
    assert told(capsys, *options, "--recompute") == found
    return found


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


USUAL = ("matrix-mul", "--designs", "mrf,rfc", "--json")
CHANGES = (
    ("--technology", "common-40nm"),
    ("--machine", "v100"),
    ("--size", "small"),
    ("--seed", "1"),
    ("--set", "rfc.entries=3"),
    ("--suspend", "static"),
    ("--max-registers", "16"),
    ("--no-schedule",),
    ("--target", "sm_80"),
    ("--level", "ptx"),
    ("--latencies", "v100"),
    ("--banks", "4"),
    ("--registers", "60"),
    ("--address-bits", "32"),
    ("--rotate", "8"),
)


@pytest.mark.slow
def test_every_changed_option_prints_what_a_fresh_cache_prints(runs: list[str], capsys: Output) -> None:
    """All in one store, each once: none may be taken for another."""
    printed = [same_as_fresh(capsys, runs, *USUAL, *change) for change in ((), *CHANGES)]
    assert len(set(printed)) == len(printed)


@pytest.mark.slow
def test_every_changed_option_of_a_timing_prints_what_a_fresh_cache_prints(runs: list[str], capsys: Output) -> None:
    timed = ("vector-add", "--designs", "mrf,rfc", "--cycles", "--machine", "gtx480", "--json")
    changes = ((), ("--cold",), ("--sample-windows", "2"), ("--sample-windows", "3"), ("--seed", "1"))
    printed = [same_as_fresh(capsys, runs, *timed, *change) for change in changes]
    assert len(set(printed)) == len(printed)
    told(capsys, *timed, "--threads", "2")  # with the same result
    assert len(runs) == 2 * len(changes)


def edited(text: str, key: str, value: str) -> str:
    """A description with another value of the first line that begins with ``key``."""
    found = re.sub(rf"(?m)^({key} += .*?value = )[\d.]+", rf"\g<1>{value}", text, count=1)
    assert found != text
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "known", "key", "value"),
    [
        ("--machine", gpu.machine.FOLDER / "v100.toml", "bytes", "65536"),
        ("--technology", energy.technology.FOLDER / "gebhart-40nm.toml", "energy", "2.5"),
        ("--latencies", gpu.machine.FOLDER / "v100.toml", "dram", "1"),
    ],
)
def test_an_edited_or_copied_file_prints_what_a_fresh_cache_prints(
    option: str, known: Path, key: str, value: str, runs: list[str], tmp_path: Path, capsys: Output
) -> None:
    own, copy = tmp_path / "own.toml", tmp_path / "copy.toml"
    shutil.copy(known, own)
    first = same_as_fresh(capsys, runs, *USUAL, option, str(own))
    shutil.copy(own, copy)
    copied = same_as_fresh(capsys, runs, *USUAL, option, str(copy))
    assert "copy" in copied
    assert copied != first
    own.write_text(edited(own.read_text(), key, value))
    assert same_as_fresh(capsys, runs, *USUAL, option, str(own)) != first
    shutil.copy(known, own)
    known_runs = len(runs)
    assert told(capsys, *USUAL, option, str(own)) == first
    assert len(runs) == known_runs


@pytest.mark.slow
def test_an_edited_or_copied_trace_prints_what_a_fresh_cache_prints(
    runs: list[str], tmp_path: Path, capsys: Output
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        listed = write_vector_add(tmp_path / name, 100)
        found = same_as_fresh(capsys, runs, str(listed), "--designs", "mrf,rfc", "--json")
        assert {row["workload"] for row in json.loads(found)} == {name}
    write_vector_add(tmp_path / "two", 1000)
    assert same_as_fresh(capsys, runs, str(listed), "--designs", "mrf,rfc", "--json") != found
