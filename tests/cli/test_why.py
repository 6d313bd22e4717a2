"""``warpreg why``: two designs by instruction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpreg.cli import main

Output = pytest.CaptureFixture[str]
WHY = ["why", "mrf", "orf-lrf", "vector-add", "--size", "tiny"]


@pytest.mark.slow
def test_instructions_are_sorted_and_noted_in_the_listing(capsys: Output) -> None:
    """The first row differs most, and its note in the listing names the registers that leave the MRF."""
    assert main([*WHY, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["designs"] == ["mrf", "orf-lrf"]
    for place in (0, 1):
        spent = [one["energy_pj"][place] for one in found["instructions"]]
        assert found["energy_pj"][place] == pytest.approx(sum(spent))
    assert found["energy_pj"][1] < found["energy_pj"][0]
    differences = [abs(one["energy_pj"][1] - one["energy_pj"][0]) for one in found["instructions"]]
    most = found["instructions"][differences.index(max(differences))]
    assert main([*WHY, "--top", "1"]) == 0
    out = capsys.readouterr().out
    first = next(line for line in out.splitlines() if line.lstrip().startswith(str(most["pc"])))
    assert most["text"] in first
    assert "; MRF " in out.partition("live at most")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mrf", "mrf", "vector-add"], "expected two designs with one value for each parameter, found 1"),
        (["mrf", "rfc", "vector-add", "--set", "rfc.entries=2,4"], "found 3"),
        (["mrf", "rcf", "vector-add"], "did you mean 'rfc'|no design named 'rcf'"),
        (["mrf", "rfc", "vector-ad"], "no workload named 'vector-ad'"),
        (["mrf", "rfc", "vector-add", "--size", "tiny", "--kernel", "x"], "no kernel in this run named 'x'"),
        (["mrf", "rfc", "vector-add", "--grid", "4"], "require a kernel file"),
        (["mrf", "corf", "vector-add", "--technology", "gebhart-40nm"], "corf: logic coalescing has no price"),
    ],
)
def test_bad_input_is_one_message(capsys: Output, arguments: list[str], message: str) -> None:
    assert main(["why", *arguments]) in (1, 2)
    captured = capsys.readouterr()
    assert any(part in captured.err for part in message.split("|"))
    assert captured.out == ""


def test_a_missing_file_is_one_message(tmp_path: Path, capsys: Output) -> None:
    assert main(["why", "mrf", "rfc", str(tmp_path / "no.ptx")]) == 1
    assert "No such file" in capsys.readouterr().err
