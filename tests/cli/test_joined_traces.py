"""Traces with a listing, and compressed ones, on the command line and in studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.machine_code.test_joining import CODE, TRACED, listing
from tests.sass.compressed import tracez
from tests.sass.text import write_trace

from warpreg.cli import main
from warpreg.evaluation.sweep.batch import Batch, opened_files, workload_files
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of, swept
from warpreg.sass.choice import trace_choice

Output = pytest.CaptureFixture[str]


@pytest.fixture
def traced(tmp_path: Path) -> tuple[str, str]:
    """A trace and the listing of its code."""
    (tmp_path / "code.sass").write_text(listing())
    return str(write_trace(tmp_path, [[TRACED]])), str(tmp_path / "code.sass")


def test_explain_shows_control_codes_and_reuse_of_a_trace(capsys: Output, traced: tuple[str, str]) -> None:
    trace, code = traced
    assert main(["explain", trace, "--listing", code]) == 0
    told = capsys.readouterr().out
    assert "waits:R:W:yield:stall" in told
    assert "B0-2---:R-:W-:Y:S04  FFMA R0, R4, R6.reuse" in told
    assert main(["explain", trace]) == 0
    assert "waits:R" not in capsys.readouterr().out


def test_explain_prints_control_codes_as_json(capsys: Output, traced: tuple[str, str]) -> None:
    trace, code = traced
    assert main(["explain", trace, "--listing", code, "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)
    rows = [row for block in kernel["blocks"] for row in block["instructions"]]
    assert [row["control"] for row in rows] == [str(control) for _, control in CODE]


def test_explain_shows_a_design_on_a_kernel_of_a_trace(capsys: Output, traced: tuple[str, str]) -> None:
    assert main(["explain", traced[0], "--kernel", "_Z3foov", "--design", "rfc"]) == 0
    assert "last read of R4" in capsys.readouterr().out
    assert main(["explain", traced[0], "--kernel", "bar"]) == 1
    assert "no kernel named 'bar'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "vector-add", "--listing", "CODE"], "--listing: expected a hardware trace"),
        (["explain", "vector-add", "--listing", "CODE"], "--listing: expected a hardware trace"),
        (["explain", "TRACE", "--source"], "--print-after, --source and --html require a kernel file or workload"),
        (["explain", "TRACE", "--print-after", "all"], "--print-after, --source and --html require a kernel file"),
    ],
)
def test_what_does_not_fit_is_refused(
    capsys: Output, traced: tuple[str, str], arguments: list[str], message: str
) -> None:
    given = {"TRACE": traced[0], "CODE": traced[1]}
    assert main([given.get(one, one) for one in arguments]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert message in told


@pytest.mark.parametrize("command", [["run"], ["compare", "--designs", "mrf"], ["explain"]])
def test_a_trace_of_other_code_is_one_line(capsys: Output, traced: tuple[str, str], command: list[str]) -> None:
    Path(traced[1]).write_text(listing([("EXIT", CODE[-1][1])]))
    assert main([command[0], traced[0], *command[1:], "--listing", traced[1]]) == 1
    (told,) = [one for one in capsys.readouterr().err.splitlines() if one]
    assert f"_Z3foov+0x0000: the trace has 'R6 S2R', {traced[1]}:4 has 'EXIT'" in told


def test_a_missing_listing_is_one_line(capsys: Output, traced: tuple[str, str]) -> None:
    assert main(["run", traced[0], "--listing", traced[1] + "x"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("code.sassx: No such file or directory")


@pytest.mark.parametrize("damage", ["", "cut", "empty"])
def test_a_compressed_trace_is_run_or_is_one_line(capsys: Output, tmp_path: Path, damage: str) -> None:
    data = tracez(write_trace(tmp_path, [[TRACED]]).read_text())
    (tmp_path / "kernel-1.tracez").write_bytes({"": data, "cut": data[:-9], "empty": b""}[damage])
    (tmp_path / "kernelslist.g").write_text("kernel-1.tracez\n")
    status = main(["run", str(tmp_path / "kernelslist.g"), "--json"])
    found = capsys.readouterr()
    if damage:
        assert status == 1
        assert "kernel-1.tracez: the compressed file is damaged: " in found.err
        assert len(found.err.splitlines()) == 1
    else:
        assert (status, json.loads(found.out)["warp_instructions"]) == (0, len(TRACED))


def study(folder: Path, entries: str) -> Batch:
    path = folder / "study.toml"
    path.write_text(f'workloads = "kernel-1.traceg"\n[[designs]]\nname = "mrf"\n[traces]\n{entries}')
    return batch_of(read_study(path), path.parent)


def test_a_study_reads_the_listing_beside_it(tmp_path: Path, traced: tuple[str, str]) -> None:
    batch = study(tmp_path, 'listing = "code.sass"\n')
    (row,) = swept(batch, workers=1)
    assert row["traces"] == {"listing": "code.sass"}


def test_keys_depend_on_the_content_of_the_listing(tmp_path: Path, traced: tuple[str, str]) -> None:
    entry = 'listing = "code.sass"\n'
    plain, joined = study(tmp_path, "").keys, study(tmp_path, entry).keys
    assert study(tmp_path, entry).keys == joined != plain
    Path(traced[1]).write_text(listing() + "\n")
    assert study(tmp_path, entry).keys not in (plain, joined)
    reading = trace_choice(listing=traced[1])
    files = [Path(one) for one in traced]
    assert workload_files(traced[0], reading=reading) == opened_files(traced[0], reading) == files
