"""``--cycles``: timed runs and comparisons, with designs, schedules and samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sass.vector_add import write_vector_add
from tests.timing.interpreted import interpret

import warpreg
from warpreg.cli import main
from warpreg.timing import CAUSES

Output = pytest.CaptureFixture[str]
THREADS = 1000
"""Of the vector addition: 8 thread blocks of 4 warps."""
VECTOR_ADD = ["vector-add", "--size", "tiny", "--machine", "gtx480"]


@pytest.fixture(autouse=True)
def _two_interpreted_sms(monkeypatch: pytest.MonkeyPatch) -> None:
    interpret(monkeypatch, sms=2)


@pytest.fixture
def add(tmp_path: Path) -> str:
    """A recorded vector addition, which is quickly timed."""
    return str(write_vector_add(tmp_path, THREADS))


def launched_twice(folder: Path) -> str:
    listed = write_vector_add(folder, THREADS)
    (trace,) = folder.glob("*.traceg")
    (folder / "kernel-2.traceg").write_bytes(trace.read_bytes())
    listed.write_text(f"{trace.name}\nkernel-2.traceg\n", encoding="utf-8")
    return str(listed)


def told(capsys: Output, *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys: Output, status: int, *arguments: str) -> str:
    assert main(list(arguments)) == status
    line = capsys.readouterr().err
    assert line.startswith("warpreg: ")
    assert line.count("\n") == 1
    return line


@pytest.mark.slow
def test_run_tells_cycles_and_the_stall_account(capsys: Output, add: str) -> None:
    found = told(capsys, "run", add, "--cycles", "--machine", "gtx480")
    assert found["ipc"] == found["warp_instructions"] / found["cycles"]
    assert set(found["stalls"]) == set(CAUSES)
    assert sum(found["stalls"].values()) == found["cycles"] * 48 * 2
    assert sum(found["timing"]["ipc_by_sm"]) == pytest.approx(found["ipc"])
    assert len(found["timing"]["memory_stall_share_by_slot"]) == 48
    assert 0 < found["timing"]["bandwidth_use"]["dram"] < 1
    assert 0 < found["timing"]["collector"]["occupancy"] < 1


@pytest.mark.slow
def test_a_workload_is_run_with_its_addresses_and_timed(capsys: Output) -> None:
    found = told(capsys, "run", "2dconv", "--size", "tiny", "--cycles", "--machine", "gtx480")
    assert 0 < found["ipc"] <= 4


@pytest.mark.slow
def test_run_tells_what_a_design_accesses_beside_its_cycles(capsys: Output, add: str) -> None:
    """On a machine whose warps are always active the accesses are those of a replay."""
    three = ["--set", "rfc.entries=3"]
    timed = told(capsys, "run", add, "--cycles", "--machine", "gtx480", "--design", "rfc", *three)
    _, replayed = told(capsys, "compare", add, *three)
    assert timed["parameters"]["entries"] == 3
    assert timed["rfc_reads"] > 0
    for name in ("mrf_reads", "mrf_writes", "rfc_reads", "rfc_writes", "energy_pj", "energy_normalized"):
        assert timed[name] == replayed[name]


@pytest.mark.slow
def test_run_prints_levels(capsys: Output, add: str) -> None:
    assert main(["run", add, "--cycles", "--machine", "gtx480", "--design", "rfc"]) == 0
    text = capsys.readouterr().out
    assert "energy over that of the plain MRF" in text
    assert "rfc(entries=6)" in text


def test_designs_of_several_slots_take_their_parameters_by_their_own_names(
    capsys: Output, tmp_path: Path, add: str
) -> None:
    (tmp_path / "first_come.py").write_text(
        '"""Equal."""\nfrom warpreg.designs.interface import *\n'
        'DESIGN = Declaration(slot="policy", source="assumed: a test")\n'
        "@hook\ndef priority(state, program, warp, pc):\n    return 0\n",
        encoding="utf-8",
    )
    cached = ["run", add, "--cycles", "--machine", "gtx480", "--design", "rfc", "--set", "rfc.entries=3"]
    alone = told(capsys, *cached)
    both = told(capsys, *cached, "--design", str(tmp_path / "first_come.py"))
    assert (both["design"], both["parameters"]["rfc_entries"]) == ("rfc+first-come", 3)
    assert (both["cycles"], both["rfc_reads"]) == (alone["cycles"], alone["rfc_reads"])


def test_compare_tells_cycles_and_speed(capsys: Output, add: str) -> None:
    compared = ["compare", add, "--cycles", "--machine", "gtx980-two-level", "--designs", "mrf,rc"]
    plain, cached = told(capsys, *compared)
    assert plain["speed"] == 1
    assert cached["speed"] == plain["cycles"] / cached["cycles"]
    assert cached["ipc"] == cached["warp_instructions"] / cached["cycles"]
    assert cached["mrf_reads"] < plain["mrf_reads"]
    assert sum(cached["timing"]["stalls"].values()) == cached["cycles"] * 64 * 2
    assert main(compared) == 0
    assert {"cycles", "IPC", "speed"} <= set(capsys.readouterr().out.split())


def test_python_compares_in_time(add: str) -> None:
    frame = warpreg.compare(warpreg.read_trace(add), machine="gtx480", cycles=True)
    assert frame["speed"].tolist() == (frame["cycles"][0] / frame["cycles"]).tolist()


@pytest.mark.slow
def test_a_saved_schedule_leads_a_replay_to_the_same_counts(capsys: Output, tmp_path: Path, add: str) -> None:
    """The register cache is shared by the warps of a scheduler: without the schedule it cannot be replayed."""
    file, machine = str(tmp_path / "add.schedule"), ["--machine", "gtx980-two-level"]
    assert "needs a recorded schedule" in complaint(capsys, 1, "compare", add, "--designs", "rc")
    timed = told(capsys, "run", add, *machine, "--cycles", "--design", "rc", "--save-schedule", file)
    (replayed,) = told(capsys, "compare", add, *machine, "--designs", "rc", "--schedule", file)
    for name in ("mrf_reads", "mrf_writes", "rc_reads", "rc_writes", "energy_normalized"):
        assert replayed[name] == timed[name]
    assert len(replayed["provenance"]["schedule"]) == 12


@pytest.mark.slow
def test_the_schedules_of_several_launches_are_one_file(capsys: Output, tmp_path: Path, add: str) -> None:
    file = str(tmp_path / "twice.schedule")
    (tmp_path / "twice").mkdir()
    twice = launched_twice(tmp_path / "twice")
    found = told(capsys, "run", twice, "--cycles", "--save-schedule", file)
    assert found["warp_instructions"] == 2 * told(capsys, "run", add)["warp_instructions"]
    (row,) = told(capsys, "compare", twice, "--designs", "rfc", "--schedule", file)
    (free,) = told(capsys, "compare", twice, "--designs", "rfc", "--suspend", "static")
    assert row["mrf_reads"] == free["mrf_reads"]
    other = complaint(capsys, 1, "compare", add, "--designs", "rfc", "--schedule", file)
    assert "twice.schedule: holds schedules of 2 launches, but " in other


@pytest.mark.slow
def test_what_is_no_schedule_of_the_run_is_refused(capsys: Output, tmp_path: Path, add: str) -> None:
    file = tmp_path / "a.schedule"
    along = ["compare", add, "--designs", "rfc", "--schedule", str(file)]
    assert "does not exist" in complaint(capsys, 2, *along)
    file.write_bytes(b"")
    assert complaint(capsys, 1, *along) == f"warpreg: {file}: not a Warpreg schedule\n"
    told(capsys, "run", add, "--cycles", "--save-schedule", str(file))
    whole = file.read_bytes()
    for cut in (len(whole) - 1, len(whole) // 2, 20):
        file.write_bytes(whole[:cut])
        assert f"{file}: the schedule is cut off" in complaint(capsys, 1, *along)
    file.write_bytes(whole + b"more")
    assert complaint(capsys, 1, *along) == f"warpreg: {file}: not a Warpreg schedule\n"
    file.write_bytes(whole)
    shorter = str(write_vector_add(tmp_path, THREADS - 32))
    message = complaint(capsys, 1, "compare", shorter, *along[2:])
    assert message.startswith(f"warpreg: {file}: the schedule is of another run of ")


def test_a_schedule_that_cannot_be_written_is_an_error(capsys: Output, tmp_path: Path, add: str) -> None:
    file = tmp_path / "nowhere" / "a.schedule"
    assert "No such file or directory" in complaint(capsys, 1, "run", add, "--cycles", "--save-schedule", str(file))


def test_a_sample_tells_a_range(capsys: Output, add: str) -> None:
    """On one of 15 SMs, which has one of the 8 thread blocks to run: three of them are tried."""
    found = told(capsys, "run", add, "--cycles", "--machine", "gtx480", "--sample-windows", "3", "--sample-sms", "1")
    sample = found["timing"]["sample"]
    assert (sample["sms"], sample["windows"], sample["confidence"]) == (1, 3, 0.95)
    assert sample["low"] <= found["cycles"] == sample["cycles"] <= sample["high"]
    assert found["ipc"] == found["warp_instructions"] / found["cycles"]
    assert found["provenance"]["sample"] == {"windows": 3, "blocks": None, "sms": 1}


@pytest.mark.slow
def test_launches_find_the_second_level_as_it_was_left_unless_cold(capsys: Output, tmp_path: Path) -> None:
    # A launch reads two arrays of 1000 words: 250 sectors and, in whole lines of 128 bytes, 256.
    twice = launched_twice(tmp_path)
    machine = ["--cycles", "--machine", "gtx480"]
    reads = {
        "": 256,
        "--cold": 2 * 256,
    }
    for option, expected in reads.items():
        found = told(capsys, "run", twice, *machine, *([option] if option else []))
        assert found["timing"]["memory"]["dram_reads"] == expected
        assert found["provenance"].get("cold", False) == (option == "--cold")
    found = told(capsys, "run", str(write_vector_add(tmp_path, THREADS)), *machine, "--warm-copies")
    assert found["timing"]["memory"]["dram_reads"] < 8
    assert found["provenance"]["copies"] is True


def test_a_kernel_that_does_not_fit_is_one_line(capsys: Output) -> None:
    assert complaint(capsys, 1, "run", *VECTOR_ADD, "--cycles", "--registers", "200") == (
        "warpreg: kernel vector_add: a thread block does not fit an SM of gtx480: registers per thread (256 threads of "
        "200 registers, 0 bytes of shared memory); it fits with at most 63 registers per thread\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--design", "rfc"], "--design requires --cycles"),
        (["run", "--set", "rfc.entries=3"], "--set requires --cycles"),
        (["run", "--save-schedule", "a"], "--save-schedule requires --cycles"),
        (["run", "--sample-sms", "1"], "--sample-sms require --cycles"),
        (["run", "--cycles", "--sample-sms", "1", "--save-schedule", "a"], "requires a whole run"),
        (["run", "--cold"], "--cold, --warm-copies and --threads require --cycles"),
        (["run", "--cycles", "--cold", "--warm-copies"], "--cold and --warm-copies exclude each other"),
        (["run", "--cycles", "--sample-windows", "1"], "1 is not in the range x>=2"),
        (["run", "--cycles", "--set", "rfc.entries=3"], "no design in this comparison named 'rfc'"),
        (["run", "--cycles", "--design", "rfc", "--set", "rfc.entries=3,4"], "2 combinations of values, expected one"),
        (["compare", "--cycles", "--suspend", "static"], "--cycles and --suspend both determine"),
        (["compare", "bfs", "--schedule", __file__], "--schedule requires exactly one workload, found 2"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(capsys: Output, arguments: list[str], message: str) -> None:
    command, *options = arguments
    assert message in complaint(capsys, 2, command, *VECTOR_ADD, *options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--design", "rfc", "--set", "rfc.entry=3"], "did you mean 'entries'?"),
        (["--design", "rfc", "--set", "rfc.entries=many"], "parameter entries expects int from 0"),
        (["--design", "rfc", "--design", "orf-lrf"], "both have slot levels"),
        (["--sample-sms", "16"], "machine gtx480 has 15 SMs, a sample takes 1 to so many, found 16"),
        (["--warm-copies"], "vector-add: no copies from the host are recorded; a kernelslist.g names them"),
        (["--technology", "gebhart-41nm"], "did you mean 'gebhart-40nm'?"),
    ],
)
def test_values_that_do_not_fit_are_failures(capsys: Output, arguments: list[str], message: str) -> None:
    assert message in complaint(capsys, 1, "run", *VECTOR_ADD, "--cycles", *arguments)
