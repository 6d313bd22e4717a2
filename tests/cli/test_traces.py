"""Recorded hardware traces on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.designs.test_documented_example import example
from tests.sass.text import line, write_trace
from tests.sass.vector_add import FULL_WARP, PART_WARP, write_vector_add

import warpreg
from warpreg.cli import main
from warpreg.sass.errors import SassTraceError
from warpreg.simt import Record

SAXPY = Path(__file__).parent / "data" / "saxpy.ptx"

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("compressed", [False, True])
def test_run_profiles_a_trace(capsys: Output, tmp_path: Path, compressed: bool) -> None:
    listed = write_vector_add(tmp_path, 200, compressed)  # 2 thread blocks: warps 0 to 6 work, warp 7 leaves at once
    assert main(["run", str(listed), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["warp_instructions"] == 7 * FULL_WARP + PART_WARP
    (launch,) = found["launches"]
    assert (launch["kernel"], launch["grid"], launch["demand"]) == ("_Z3addPKfS0_Pfi", "2x1x1", 12)
    # a working warp reads 2 + 1, then 2 + 2 for two wide products, 2 + 2 for loads, 2, 2, and 3 for the store
    assert found["profile"]["operands"]["read.shared"] == 7 * (2 + 2 + 3)
    assert found["profile"]["operands"]["read.private"] == 7 * (3 + 2 + 2 + 2 + 2) + 3
    assert found["profile"]["operands"]["write.private"] == 7 * (3 + 1 + 2 + 2 + 2 + 1) + 3
    assert found["options"]["binary_version"] == 80


def test_compare_replays_designs_on_a_trace(capsys: Output, tmp_path: Path) -> None:
    listed = write_vector_add(tmp_path, 128)
    assert main(["compare", str(listed), "--designs", "mrf,rfc", "--json"]) == 0
    plain, cached = json.loads(capsys.readouterr().out)
    assert plain["mrf_reads"] == 4 * (11 + 7)
    assert cached["mrf_reads"] < plain["mrf_reads"]
    assert cached["mrf_reads"] + cached["rfc_reads"] >= plain["mrf_reads"]


@pytest.mark.slow
def test_a_design_that_needs_widths_runs_on_kernels_and_is_refused_on_traces(capsys: Output, tmp_path: Path) -> None:
    """A run records them for the design; a trace has none."""
    design = str(example(tmp_path))
    assert main(["compare", "vector-add", "--size", "tiny", "--designs", design, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["narrow_writes"] > 0
    assert main(["compare", str(write_vector_add(tmp_path, 32)), "--designs", design]) == 1
    (message,) = capsys.readouterr().err.splitlines()
    assert "design narrow: needs the widths of values" in message
    assert message.endswith("hardware traces contain no values")


def test_a_compiled_trace_takes_no_options_of_the_compiler(capsys: Output, tmp_path: Path) -> None:
    listed = write_vector_add(tmp_path, 32)
    assert main(["run", str(listed), "--no-schedule"]) == 1
    assert "a recorded trace is compiled already" in capsys.readouterr().err
    assert main(["run", str(listed), "--grid", "4"]) == 2
    assert main(["run", str(listed), "--registers", "40", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["residency"][0]["registers_per_thread"] == 40


@pytest.mark.slow
def test_unknown_opcodes_end_the_command_unless_they_count_as_alu(capsys: Output, tmp_path: Path) -> None:
    path = str(write_trace(tmp_path, [[[line(0, "R1 <- FROB R2"), line(0x10, "EXIT")]]]))
    assert main(["run", path]) == 1
    assert "FROB executed 1 times" in capsys.readouterr().err
    assert main(["run", path, "--unknown-opcodes", "alu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["unknown_opcodes_as_alu"] == {"FROB": 1}


def test_a_missing_trace_is_an_error(capsys: Output, tmp_path: Path) -> None:
    assert main(["compare", str(tmp_path / "kernelslist.g")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_export_writes_a_trace_that_run_reads(capsys: Output, tmp_path: Path) -> None:
    folder = tmp_path / "traces" / "vector-add"
    assert main(["export", "vector-add", "--output", str(folder), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["bytes"] == sum(path.stat().st_size for path in folder.glob("*.traceg"))
    assert main(["run", "vector-add", "--size", "tiny", "--json"]) == 0
    original = json.loads(capsys.readouterr().out)
    assert main(["run", written["list"], "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["warp_instructions"] == original["warp_instructions"] == written["warp_instructions"]
    assert read["profile"] == original["profile"]


def test_python_reads_and_writes_traces(tmp_path: Path) -> None:
    listed = write_vector_add(tmp_path, 64)
    run = warpreg.read_trace(listed, registers=20)
    assert run.warp_instructions == 2 * FULL_WARP + 2 * PART_WARP
    plain, cached = warpreg.compare(run, designs=["mrf", "rfc"]).itertuples()
    assert cached.energy_normalized < plain.energy_normalized
    recorded = warpreg.compile(str(SAXPY), record=Record(path=True, addresses=True))["saxpy"]
    x = np.ones(64, np.float32)
    original = recorded[2, 32](2.0, x, x.copy(), 64)
    again = warpreg.read_trace(warpreg.write_trace(original, tmp_path / "saxpy"))
    assert again.warp_instructions == original.warp_instructions
    with pytest.raises(SassTraceError, match="addresses were not recorded"):
        warpreg.write_trace(warpreg.run("vector-add"), tmp_path / "none")
