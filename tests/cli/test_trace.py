"""``warpreg trace``: files for viewers, and bad input, which leaves no file behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
from tests.sass.vector_add import FULL_WARP, THREADS, write_vector_add
from tests.timing.interpreted import interpret

from warpreg.cli import main
from warpreg.timing.launch import tracing
from warpreg.workloads.cuda_sdk import vector_add

Output = pytest.CaptureFixture[str]
WARPS = THREADS // 32
PTX = Path(vector_add.__file__).with_name("kernel.ptx")


@pytest.fixture(autouse=True)
def _two_interpreted_sms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    interpret(monkeypatch, sms=2)
    monkeypatch.chdir(tmp_path)


def launched_twice(folder: Path) -> str:
    listed = write_vector_add(folder, THREADS)
    (trace,) = folder.glob("*.traceg")
    (folder / "kernel-2.traceg").write_bytes(trace.read_bytes())
    listed.write_text(f"{trace.name}\nkernel-2.traceg\n", encoding="utf-8")
    return str(listed)


def traced(capsys: Output, *arguments: str) -> dict[str, object]:
    assert main(["trace", *arguments, "--machine", "gtx480", "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
def test_a_file_for_each_viewer(capsys: Output, tmp_path: Path) -> None:
    """The default names; every instruction of the run issues in it."""
    add = str(write_vector_add(tmp_path, THREADS))
    found = traced(capsys, add, "--design", "rfc")
    assert (found["file"], found["design"], found["issued"]) == ("trace.pftrace", "rfc", WARPS * FULL_WARP)
    assert len(Trace.FromString(Path("trace.pftrace").read_bytes()).packet) > 0
    text = traced(capsys, add, "--design", "rfc", "--format", "konata")
    assert (text["file"], text["cycles"]) == ("trace.kanata", found["cycles"])
    lines = Path("trace.kanata").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("I\t") for line in lines) == WARPS * FULL_WARP


@pytest.mark.slow
def test_cycles_count_over_all_launches(capsys: Output, tmp_path: Path) -> None:
    """A window in the second launch; both launches together are the whole run."""
    twice = launched_twice(tmp_path)
    whole = traced(capsys, twice)
    assert whole["issued"] == 2 * WARPS * FULL_WARP
    assert isinstance(whole["cycles"], list)
    half = whole["cycles"][1] // 2
    first, second = (traced(capsys, twice, "--cycles", window) for window in (f":{half}", f"{half}:"))
    assert (first["cycles"], second["cycles"]) == ([0, half], [half, 2 * half])
    assert isinstance(first["issued"], int)
    assert isinstance(second["issued"], int)
    assert first["issued"] + second["issued"] == whole["issued"]


@pytest.mark.slow
def test_too_little_room_is_enlarged(capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = str(write_vector_add(tmp_path, THREADS))
    monkeypatch.setattr(tracing, "ROOM", 10)
    traced(capsys, add, "--output", "small.pftrace")
    monkeypatch.setattr(tracing, "ROOM", 1 << 20)
    traced(capsys, add, "--output", "large.pftrace")
    assert Path("small.pftrace").read_bytes() == Path("large.pftrace").read_bytes()
    monkeypatch.setattr(tracing, "ROOM", 10)
    monkeypatch.setattr(tracing, "MAX_EVENTS", 100)
    assert main(["trace", add, "--output", "none.pftrace"]) == 1
    assert "events, expected at most 100; trace fewer cycles" in capsys.readouterr().err
    assert not Path("none.pftrace").exists()


@pytest.mark.slow
@pytest.mark.parametrize("window", ["0:1000000", "900000:1000000", "900000:"])
def test_cycles_beyond_the_run(capsys: Output, tmp_path: Path, window: str) -> None:
    add = str(write_vector_add(tmp_path, THREADS))
    told = complaint(capsys, 1, add, "--cycles", window, "--output", "none.pftrace")
    assert told.startswith(f"cycles {window}: the run has ")
    assert told.endswith(" cycles")
    assert not list(tmp_path.glob("*none*"))


def complaint(capsys: Output, status: int, *arguments: str) -> str:
    assert main(["trace", *arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("warpreg: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["vector-add", "--cycles", "5:5"], 2, "'5:5': expected A:B with A below B"),
        (["vector-add", "--cycles", "9:5"], 2, "'9:5': expected A:B with A below B"),
        (["vector-add", "--cycles", "-1:5"], 2, "'-1:5': expected A:B, two cycles such as 1000:2000"),
        (["vector-add", "--cycles", "12"], 2, "'12': expected A:B, two cycles such as 1000:2000"),
        (["vector-add", "--format", "chrome"], 2, "'chrome' is not one of 'perfetto', 'konata'"),
        (["vector-ad"], 1, "no workload named 'vector-ad'; did you mean 'vector-add'?"),
        ([str(PTX), "--kernel", "x", "--grid", "4", "--block", "32"], 1, "named 'x'; there are: vector_add"),
        (["none.ptx"], 1, "none.ptx: No such file or directory"),
        (["vector-add", "--design", "rcf"], 1, "no design named 'rcf'; did you mean 'rc'?"),
        (["vector-add", "--design", "las"], 1, "las uses larf, so it needs that design beside it: larf+las"),
        (["vector-add", "--design", "corf", "--set", "corf.banks=4"], 1, "banks expects 32, the banks of gebhart-rfc"),
        (["vector-add", "--design", "rfc", "--set", "rfc.entries=2,4"], 2, "--set gives 2 combinations of values"),
        (
            ["vector-add", "--kernel", "x"],
            2,
            "--kernel requires a kernel file (.cu, .ptx, .cubin, .fatbin, .sass), found",
        ),
        (["vector-add", "--grid", "4"], 2, "--grid, --block, --arg and --symbol require a kernel file"),
        (["kernelslist.g", "--grid", "4"], 2, "--grid, --block, --arg and --symbol require a kernel file"),
    ],
)
def test_bad_input_is_one_line(capsys: Output, tmp_path: Path, arguments: list[str], status: int, message: str) -> None:
    assert message in complaint(capsys, status, *arguments, "--output", "none.pftrace")
    assert not list(tmp_path.iterdir())
