"""Parts of traces and replaced headers on the command line, in Python and in studies: options, notes and keys."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.sass.text import header, line, write_trace

import warpreg
from warpreg.cli import main
from warpreg.evaluation.runs.run import RunError
from warpreg.evaluation.sweep.batch import Batch, opened_files, workload_files
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of, swept
from warpreg.sass.choice import trace_choice
from warpreg.sass.errors import SassTraceError

Output = pytest.CaptureFixture[str]
WARP = [line(0, "R1 <- FADD R2 R3"), line(0x10, "EXIT")]
"""Two instructions; the first reads two registers."""


@pytest.fixture
def listed(tmp_path: Path) -> str:
    """Three launches of 2, 4 and 6 thread blocks of a warp each, in a folder named "traced"."""
    folder = tmp_path / "traced"
    folder.mkdir()
    for number in (1, 2, 3):
        name = "_Z4gemmPf" if number == 2 else "_Z4reluPf"
        write_trace(folder, [[WARP]] * (2 * number), f"kernel-{number}.traceg", kernel_name=name)
    (folder / "kernelslist.g").write_text("kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n")
    return str(folder / "kernelslist.g")


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """The header of a tracer that was built for another NVBit."""
    return str(write_trace(tmp_path, [[WARP]], nregs=21955, binary_version=0))


SELECTED = ["--kernels", "2-3", "--blocks", "0,2-3"]
NOTE = "kernels 2-3 of 3; blocks 0,2-3 of 4, 6"


def test_run_reads_a_part_and_says_so(capsys: Output, listed: str) -> None:
    assert main(["run", listed, *SELECTED, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["warp_instructions"] == 2 * 3 * 2
    assert [(one["kernel"], one["grid"]) for one in found["launches"]] == [
        ("_Z4gemmPf", "3x1x1"),
        ("_Z4reluPf", "3x1x1"),
    ]
    assert found["options"]["note"] == NOTE
    assert main(["run", listed, *SELECTED]) == 0
    told = capsys.readouterr().out.splitlines()
    assert f"note: {NOTE}" in told
    assert "note" not in told[0]
    assert any("selected part of the trace read completely" in one for one in told)


def test_every_row_of_a_comparison_has_the_note(capsys: Output, listed: str) -> None:
    arguments = ["compare", listed, "--designs", "mrf,rfc", *SELECTED]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["note"], row["mrf_reads"]) for row in rows[:1]] == [(NOTE, 2 * 3 * 2)]
    assert {row["note"] for row in rows} == {row["provenance"]["note"] for row in rows} == {NOTE}
    assert main([*arguments, "--csv"]) == 0
    assert [row["note"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == [NOTE, NOTE]
    assert main(arguments) == 0
    assert f"traced: {NOTE}" in capsys.readouterr().out
    assert main(["compare", listed, "--designs", "mrf", "--json"]) == 0
    (whole,) = json.loads(capsys.readouterr().out)
    assert "note" not in {**whole, **whole["provenance"]}


def test_a_kept_row_is_not_that_of_another_part_or_header(capsys: Output, listed: str) -> None:
    def reads(*options: str) -> int:
        assert main(["compare", listed, "--designs", "mrf", "--json", *options]) == 0
        return int(json.loads(capsys.readouterr().out)[0]["mrf_reads"])

    assert [reads(), reads("--kernels", "1"), reads("--kernels", "2"), reads("--blocks", "0")] == [24, 4, 8, 6]
    assert [reads("--kernels", "2-"), reads("--kernels", "2,3"), reads("--kernels", "gemm")] == [20, 20, 8]


def test_options_of_the_header_reach_every_command(capsys: Output, broken: str, tmp_path: Path) -> None:
    given = ["--registers", "40", "--binary-version", "sm_75", "--json"]
    note = "registers 40 (header: 21955); binary version 75 (header: 0)"
    for command in (
        ["run", broken],
        ["compare", broken, "--designs", "mrf"],
        ["why", "mrf", "rfc", broken],
        ["trace", broken, "--output", str(tmp_path / "t.kanata"), "--format", "konata"],
    ):
        assert main([*command, *given[:2]]) == 1
        assert "found sm_0; a tracer built for another NVBit" in capsys.readouterr().err
        if command[0] in ("why", "trace"):
            continue  # compile a core each, see below
        assert main([*command, *given]) == 0
        assert note in capsys.readouterr().out
    assert main(["run", broken, *given]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["options"]["binary_version"], found["residency"][0]["registers_per_thread"]) == (75, 40)


@pytest.mark.slow
def test_why_and_trace_note_what_they_read(capsys: Output, listed: str, tmp_path: Path) -> None:
    file = str(tmp_path / "t.kanata")
    assert main(["trace", listed, "--kernels", "gemm", "--blocks", "1", "--format", "konata", "--output", file]) == 0
    assert "2 instructions issued" in (told := capsys.readouterr().err)
    assert told.rstrip().endswith("kernels gemm of 3 (2); blocks 1 of 4")
    assert main(["why", "mrf", "rfc", listed, *SELECTED]) == 0
    assert capsys.readouterr().out.startswith(f"_Z4gemmPf, 1 launch ({NOTE}); not shown: _Z4reluPf")
    assert main(["why", "mrf", "rfc", listed, *SELECTED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["note"] == NOTE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "vector-add", "--kernels", "1"],
            "--kernels: expected a hardware trace (kernelslist.g, .traceg), found",
        ),
        (["why", "mrf", "rfc", "vector-add", "--blocks", "1"], "--blocks: expected a hardware trace"),
        (
            ["run", "x.ptx", "--blocks", "1", "--binary-version", "70"],
            "--binary-version and --blocks: expected a hardw",
        ),
        (["trace", "x.ptx", "--kernels", "1", "--grid", "1"], "--kernels: expected a hardware trace"),
        (["compare", "LIST", "vector-add", "--kernels", "1"], "--kernels: expected a hardware trace"),
        (
            ["run", "LIST", "--kernels", "3-1"],
            "Invalid value for '--kernels': '3-1': expected a range from low to high",
        ),
        (["run", "LIST", "--kernels="], "Invalid value for '--kernels': '': expected numbers such as 1,4-, found none"),
        (["run", "LIST", "--blocks", "gemm"], "Invalid value for '--blocks': 'gemm': expected a number or a range"),
        (["run", "LIST", "--binary-version", "pascal"], "Invalid value for '--binary-version': 'pascal': expected a"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(
    capsys: Output, listed: str, arguments: list[str], message: str
) -> None:
    assert main([listed if one == "LIST" else one for one in arguments]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert message in told


def test_python_reads_parts(listed: str, broken: str) -> None:
    run = warpreg.read_trace(listed, kernels=range(2, 4), blocks=[0, 2, 3])
    assert (run.note, run.warp_instructions) == (NOTE, 12)
    assert NOTE in repr(run)
    frame = warpreg.compare(run, designs=["mrf", "rfc"])
    assert frame["note"].tolist() == [NOTE, NOTE]
    assert NOTE in repr(warpreg.read_trace(listed, kernels="2-3", blocks="0,2-3"))
    assert warpreg.read_trace(listed, kernels=3).warp_instructions == 12
    assert warpreg.read_trace(listed).note == ""
    assert warpreg.read_trace(broken, registers=8, binary_version="sm_70").kernels[0].register_demand == 8
    with pytest.raises(SassTraceError, match="'5-3': expected a range"):
        warpreg.read_trace(listed, kernels="5-3")
    with pytest.raises(RunError, match="1 to 255"):
        warpreg.read_trace(broken, registers=300, binary_version=70)


STUDY = 'workloads = "traced/kernelslist.g"\n[[designs]]\nname = "mrf"\n[[designs]]\nname = "rfc"\n[traces]\n'


def study(listed: str, entries: str) -> tuple[Path, Batch]:
    path = Path(listed).parents[1] / "study.toml"
    path.write_text(STUDY + entries)
    return path, batch_of(read_study(path), path.parent)


def test_a_study_selects_parts_of_its_traces(capsys: Output, listed: str) -> None:
    path, batch = study(listed, 'kernels = "2-3"\nblocks = "0,2-3"\n')
    rows = swept(batch, workers=1)
    assert [row["note"] for row in rows] == [NOTE, NOTE]
    assert rows[0]["traces"] == {"kernels": "2-3", "blocks": "0,2-3"}
    assert rows[0]["mrf_reads"] == 12
    for command in (["sweep", str(path)], ["rank", str(path)]):
        assert main(command) == 0
        assert f"traced: {NOTE}" in capsys.readouterr().out
    assert main(["rank", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [f"traced: {NOTE}"]
    page = path.with_name("page.html")
    assert main(["report", str(path), "--output", str(page)]) == 0
    assert NOTE in page.read_text(encoding="utf-8")


def test_keys_of_cells_depend_on_what_is_read_alone(listed: str) -> None:
    """On the launches that are selected, their list, and how the header is read."""
    keys = [study(listed, entries)[1].keys for entries in ("", "kernels = 2", "blocks = 0", "binary_version = 75")]
    assert len({key for pair in keys for key in pair}) == 8
    same, *again = (study(listed, f"kernels = '{text}'")[1].keys for text in ("1-2", "2,1", "1,1-2"))
    assert again == [same, same]
    Path(listed).with_name("kernel-3.traceg").write_text(header() + "changed")
    assert study(listed, "kernels = '1-2'")[1].keys == same
    Path(listed).with_name("kernel-2.traceg").write_text(header() + "changed")
    assert study(listed, "kernels = '1-2'")[1].keys != same


def test_files_of_a_part(listed: str) -> None:
    """What a result depends on, and what has to be there to find that out."""
    folder = Path(listed).parent
    by_number, by_name = trace_choice(launches="2"), trace_choice(launches="gemm")
    part = [Path(listed), folder / "kernel-2.traceg"]
    whole = [Path(listed), *(folder / f"kernel-{number}.traceg" for number in (1, 2, 3))]
    assert (
        workload_files(listed, reading=by_number)
        == workload_files(listed, reading=by_name)
        == opened_files(listed, by_number)
        == part
    )
    assert workload_files(listed) == opened_files(listed, by_name) == whole


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('kernels = "3-1"', "traces.kernels: '3-1': expected a range from low to high, 1-3"),
        ('blocks = "gemm*"', r"traces.blocks: 'gemm\*': expected a number or a range"),
        ("binary_version = 35", "traces.binary_version: '35': expected a binary version from sm_50 on"),
        ('unknown_opcodes = "skip"', "traces.unknown_opcodes"),
        ("registers = 12", "traces: no key named 'registers'"),
    ],
)
def test_a_wrong_entry_of_a_study_is_refused(listed: str, entries: str, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        study(listed, entries)


def test_a_study_of_workloads_has_no_parts_of_traces(listed: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('"traced/kernelslist.g"', '["traced/kernelslist.g", "hotspot"]') + "kernels = 1\n")
    with pytest.raises(SweepError, match=r"traces: kernels .* found workload 'hotspot'"):
        read_study(path)
