"""``warpreg explain --source`` and ``--html``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import warpreg
from warpreg.cli import main

Output = pytest.CaptureFixture[str]
PTX = str(Path(warpreg.__file__).parent / "workloads" / "cuda_sdk" / "vector_add" / "kernel.ptx")


def test_lines_of_the_source_are_printed(capsys: Output) -> None:
    assert main(["explain", "matrix-mul", "--source"]) == 0
    out = capsys.readouterr().out
    assert "instructions" in out
    assert main(["explain", "matrix-mul", "--source", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    pcs = sorted(pc for line in found["lines"] for pc in line["pcs"])
    assert pcs == list(range(len(pcs)))
    assert all(line["source"] for line in found["lines"])


def test_square_brackets_of_a_source_line_are_printed(capsys: Output) -> None:
    assert main(["explain", "hotspot", "--source"]) == 0
    assert "temperature[ty][tx] = before[cell];" in capsys.readouterr().out


def test_a_page_is_written(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "folder" / "k.html"
    assert main(["explain", "vector-add", "--html", str(path), "--banks", "2"]) == 0
    page = path.read_text(encoding="utf-8")
    assert "Bank conflicts" in page
    assert f"wrote {path}" in capsys.readouterr().out


@pytest.mark.slow
def test_energy_is_that_of_the_comparison(capsys: Output) -> None:
    assert main(["explain", "vector-add", "--source", "--energy", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert main(["compare", "vector-add", "--size", "tiny", "--designs", "mrf", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert sum(line["nJ"] for line in found["lines"]) == pytest.approx(row["energy_pj"] / 1000, rel=1e-4)


@pytest.mark.slow
def test_cycles_add_causes_widths_and_the_banks_of_the_machine(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "k.html"
    options = ["--cycles", "--machine", "gtx480", "--design", "rfc"]
    assert main(["explain", "vector-add", "--source", "--json", "--html", str(path), *options]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    for line in found["lines"]:
        assert sum(line["stalls"].values()) == line["waits"]
    assert sum(line["stalls"].get("memory", 0) for line in found["lines"]) > 0
    assert any(line["bytes"] and 1 <= line["bytes"] <= 4 for line in found["lines"])
    assert any(line["deltas"] and line["deltas"] <= 4 for line in found["lines"])
    page = path.read_text(encoding="utf-8")
    for text in ("<dd>gtx480</dd>", "Significant bytes", "by cause"):
        assert text in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vector-add", "--energy"], "--energy requires --source or --html"),
        (["vector-add", "--cycles", "--design", "rfc"], "--cycles requires --source or --html"),
        ([PTX, "--source", "--energy"], "--energy and --cycles need launches"),
    ],
)
def test_bad_input_is_one_message(capsys: Output, arguments: list[str], message: str) -> None:
    assert main(["explain", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err


def test_machine_code_has_source_lines(capsys: Output) -> None:
    pytest.importorskip("nvidia")
    assert main(["explain", "vector-add", "--code", "sm_80", "--source", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert {line["line"] for line in found["lines"]} >= {6, 7, 9}
