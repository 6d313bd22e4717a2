"""The commands end to end on small inputs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpreg.cli import main

SAXPY = Path(__file__).parent / "data" / "saxpy.ptx"
LOOP_EXITS = Path(__file__).parents[2] / "examples" / "loop_exits.py"
EXAMPLE = Path(__file__).parents[2] / "examples" / "my_design.py"
LAUNCH = ["--grid", "4", "--block", "256"]
ARGUMENTS = ["--arg", "f32:2", "--arg", "buffer:f32:1000:arange", "--arg", "buffer:f32:1000:ones", "--arg", "s32:1000"]

Output = pytest.CaptureFixture[str]


def printed(capsys: Output, *arguments: str) -> str:
    assert main(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def as_json(capsys: Output, *arguments: str) -> Any:
    return json.loads(printed(capsys, *arguments, "--json"))


def complaint(capsys: Output, status: int, *arguments: str) -> str:
    assert main(list(arguments)) == status
    return capsys.readouterr().err


@pytest.mark.slow
def test_run_checks_a_workload_and_profiles_its_registers(capsys: Output) -> None:
    text = printed(capsys, "run", "vector-add", "--size", "tiny")
    assert "matches the reference (exact)" in text
    assert "registers read per instruction" in text


def test_run_launches_a_kernel_of_ones_own(capsys: Output, tmp_path: Path) -> None:
    found = as_json(capsys, "run", str(SAXPY), *LAUNCH, *ARGUMENTS, "--save", f"2={tmp_path}/y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * np.arange(1000, dtype=np.float32) + 1)
    (launch,) = found["launches"]
    assert launch["grid"] == "4x1x1"
    assert found["arguments"][1]["first"] == "1 3 5 7 9 11"
    reads = found["profile"]["values_by_reads"]
    assert sum(reads.values()) == pytest.approx(1)


HELLO = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[8] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello()
{
.reg .b64 %rd1; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;
{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], 0; call (r), vprintf, (f, a); }
ret;
}
"""


def test_what_a_kernel_prints_stands_before_the_tables_but_not_in_json(capsys: Output, tmp_path: Path) -> None:
    source = tmp_path / "hello.ptx"
    source.write_text(HELLO)
    arguments = ["run", str(source), "--grid", "1", "--block", "2"]
    assert printed(capsys, *arguments).startswith("hello\nhello\n")
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["launches"]
    assert "hello\nhello\n" in captured.err


@pytest.mark.slow
def test_the_same_run_prints_the_same_bytes(capsys: Output) -> None:
    arguments = ["compare", "reduction", "--size", "tiny", "--json"]
    assert printed(capsys, *arguments) == printed(capsys, *arguments)


def test_run_says_what_a_kernel_needs_with_an_example(capsys: Output) -> None:
    message = complaint(capsys, 2, "run", str(SAXPY), "--grid", "4")
    assert "takes 4 arguments: a (f32), x (u64), y (u64), n (u32)" in message
    assert "--arg f32:1 --arg buffer:f32:1024" in message


def test_launch_options_belong_to_files(capsys: Output) -> None:
    assert "is a workload or a trace" in complaint(capsys, 2, "run", "vector-add", "--grid", "4")


def test_a_fault_is_one_message_and_status_1(capsys: Output) -> None:
    short = [*ARGUMENTS[:5], "buffer:f32:10", *ARGUMENTS[6:]]
    message = complaint(capsys, 1, "run", str(SAXPY), *LAUNCH, *short)
    assert "out of bounds" in message
    assert "_Z5saxpyfPfS_i" in message
    assert "Traceback" not in message


def test_a_runaway_kernel_is_stopped(capsys: Output) -> None:
    message = complaint(capsys, 1, "run", str(SAXPY), *LAUNCH, *ARGUMENTS, "--max-instructions", "10")
    assert "more than 10 warp-instructions" in message


def test_names_are_suggested(capsys: Output) -> None:
    assert "did you mean 'vector-add'?" in complaint(capsys, 1, "run", "vector-ad")
    unknown = complaint(capsys, 1, "run", str(SAXPY), "--kernel", "saxpi", *LAUNCH, *ARGUMENTS)
    assert "did you mean 'saxpy'?" in unknown
    assert "did you mean 'rfc'?" in complaint(capsys, 1, "compare", "bfs", "--designs", "rfcc")
    assert "did you mean 'entries'?" in complaint(capsys, 1, "compare", "bfs", "--set", "rfc.entry=6")
    assert "did you mean 'gtx480'?" in complaint(capsys, 1, "compare", "bfs", "--machine", "gtx48")
    assert re.search(r"there are \d+, the nearest: (\S+, ){4}\S+\n", complaint(capsys, 1, "run", "xyzzy"))


def test_comparisons_run_side_by_side(capsys: Output, tmp_path: Path) -> None:
    compare = "compare", "vector-add", "reduction", "--size", "tiny", "--designs", "mrf", "--design", "rfc"
    one = as_json(capsys, *compare)
    assert as_json(capsys, *compare, "-j", "2") == one
    lines = printed(capsys, *compare, "--csv").splitlines()
    assert lines[0].startswith("workload,design,")
    assert [line.split(",")[:2] for line in lines[1:]] == [[row["workload"], row["design"]] for row in one]
    drawing = tmp_path / "energy.svg"
    assert f"figure: {drawing}" in printed(capsys, *compare, "--plot", str(drawing))
    assert "<svg" in drawing.read_text()
    assert "ends in .png, .svg, .pdf" in complaint(capsys, 1, *compare, "--plot", str(tmp_path / "energy.jpg"))


def test_a_design_that_fails_is_a_row_that_says_why(capsys: Output, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        '"""Reads nothing."""\nfrom warpreg.designs.interface import Declaration, hook\n'
        'DESIGN = Declaration(slot="levels", source="assumed: an example")\n'
        "@hook\ndef plan_reads(state, program, warp, pc, plan):\n    pass\n"
    )
    compare = "compare", "vector-add", "--size", "tiny", "--designs", "mrf", "--design", str(broken)
    assert main([*compare, "--json"]) == 1
    plain, failed = json.loads(capsys.readouterr().out)
    assert plain["design"] == "mrf"
    assert (failed["workload"], failed["design"]) == ("vector-add", "broken")
    assert "plan_reads" in failed["error"]
    assert main([*compare]) == 1
    text = capsys.readouterr().out
    assert "failed" in text
    assert "broken" in text


def test_ptx_that_is_not_ptx_names_the_place(capsys: Output, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ptx"
    broken.write_text(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entri k() { ret; }\n")
    assert f"{broken}:4:" in complaint(capsys, 1, "explain", str(broken))


def test_a_missing_file_is_one_message(capsys: Output) -> None:
    assert complaint(capsys, 1, "explain", "none.ptx") == "warpreg: none.ptx: No such file or directory\n"


@pytest.mark.slow
def test_compare_takes_all_designs_and_a_baseline(tmp_path: Path, capsys: Output) -> None:
    """In a replay, those that depend on the order of warps have a row that says so; one technology prices all."""
    every = ["compare", "vector-add", "--size", "tiny", "--json", "--designs", "all", "--suspend", "static"]
    assert main(every) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["design"] for row in rows] == sorted(row["design"] for row in rows)
    assert {"larf", "larf+las"} < {row["design"] for row in rows if "error" in row}
    plain = {row["design"]: row for row in rows if "error" not in row}
    assert {row["provenance"]["technology"].partition("@")[0] for row in plain.values()} == {"common-40nm"}
    assert main([*every, "--baseline", "rfc"]) == 1
    other = {row["design"]: row for row in json.loads(capsys.readouterr().out) if "error" not in row}
    for name, row in plain.items():
        expected = row["energy_pj"] / plain["rfc"]["energy_pj"]
        assert other[name]["energy_normalized"] == pytest.approx(expected)
        assert other[name]["normalized_to"] == "rfc(entries=6)"
        assert "normalized_to" not in row
        assert other[name]["energy_band"][0] <= expected <= other[name]["energy_band"][1]
    assert plain["mrf"]["mrf_bytes"] == 128 * (plain["mrf"]["mrf_reads"] + plain["mrf"]["mrf_writes"])
    told = complaint(capsys, 2, "compare", "vector-add", "--designs", "mrf,rfc", "--baseline", "bow")
    assert "--baseline bow: expected one of the designs that are compared, found it 0 times" in told


def test_compare_writes_a_parquet_file(tmp_path: Path, capsys: Output) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    file = tmp_path / "rows.parquet"
    rows = as_json(capsys, "compare", "vector-add", "--size", "tiny", "--parquet", str(file))
    assert pandas.read_parquet(file)["energy_pj"].tolist() == [row["energy_pj"] for row in rows]
    assert main(["compare", "vector-add", "--size", "tiny", "--json", "--parquet", str(tmp_path / "no" / "rows")]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out) == rows
    assert "non-existent directory" in shown.err


def test_compare_sweeps_a_parameter(capsys: Output) -> None:
    rows = as_json(capsys, "compare", "reduction", "--size", "tiny", "--set", "rfc.entries=1,6")
    assert [(row["design"], row["parameters"].get("entries")) for row in rows] == [
        ("mrf", None),
        ("rfc", 1),
        ("rfc", 6),
    ]
    assert rows[1]["parameters"]["replacement"] == "fifo"
    assert rows[0]["elided"] == 0 < rows[1]["elided"] < rows[2]["elided"]
    assert rows[2]["provenance"]["machine"].startswith("gebhart-rfc@")


@pytest.mark.slow
def test_compare_may_suspend_warps_where_they_may_have_to_wait(capsys: Output) -> None:
    """Flushed entries are read from the MRF again."""
    never = as_json(capsys, "compare", "reduction", "--size", "tiny")
    static = as_json(capsys, "compare", "reduction", "--size", "tiny", "--suspend", "static")
    assert static[0] == never[0] | {"provenance": static[0]["provenance"]}
    assert static[1]["elided"] < never[1]["elided"]
    assert static[1]["provenance"]["suspend"] == "static"


@pytest.mark.slow
def test_compare_takes_a_design_from_a_file(capsys: Output) -> None:
    rows = as_json(capsys, "compare", "reduction", "--size", "tiny", "--designs", "rfc", "--design", str(EXAMPLE))
    assert [row["design"] for row in rows] == ["rfc", "my-design"]


@pytest.mark.slow
def test_the_comparison_of_several_workloads_ends_with_their_mean(capsys: Output) -> None:
    text = printed(capsys, "compare", "reduction", "vector-add", "--size", "tiny")
    assert text.count("\nmean ") == 2


def test_a_setting_that_fits_no_design_is_refused(capsys: Output) -> None:
    assert "expected DESIGN.PARAMETER=VALUE" in complaint(capsys, 2, "compare", "bfs", "--set", "entries=6")
    assert "no design in this comparison" in complaint(capsys, 2, "compare", "bfs", "--set", "orf.entries=6")


def test_explain_draws_live_ranges_and_names_source_lines(capsys: Output) -> None:
    text = printed(capsys, "explain", "vector-add")
    assert "┬ written" in text
    assert "kernel.cu" in text


def test_explain_tells_places_and_reasons(capsys: Output) -> None:
    (kernel,) = as_json(capsys, "explain", "vector-add", "--design", "orf-lrf", "--set", "orf-lrf.lrf=none")
    (first, *_), *_ = (block["instructions"] for block in kernel["blocks"])
    assert first["text"] == "mov.u32 R0, %ctaid.x"
    assert first["design"].startswith("R0 to ORF 1 [strand: the kernel begins, R0 in ORF 1: saves ")


def test_explain_shows_code_that_a_design_adds(capsys: Output) -> None:
    (kernel,) = as_json(capsys, "explain", "matrix-mul", "--design", str(LOOP_EXITS))
    added = kernel["blocks"][-1]
    assert (added["label"], added["successors"]) == ("EDGE_4_5", [5])
    assert [one["text"] for one in added["instructions"]] == ["pmevent 0"]


def test_compare_says_what_a_design_adds(capsys: Output) -> None:
    """Each of the 32 warps leaves its only loop once."""
    *_, row = as_json(capsys, "compare", "spmv", "--size", "tiny", "--designs", str(LOOP_EXITS))
    assert list(row["added_instructions"].values()) == [1]
    assert row["added_warp_instructions"] == row["events"]["exits"] == 32


def test_explain_sets_parameters_of_a_design(capsys: Output) -> None:
    assert "--set rfc.entries=4 requires --design" in complaint(
        capsys, 2, "explain", "vector-add", "--set", "rfc.entries=4"
    )
    assert "--set gives entries several values" in complaint(
        capsys, 2, "explain", "vector-add", "--design", "rfc", "--set", "rfc.entries=4,6"
    )


def test_explain_prints_the_kernel_after_passes(capsys: Output) -> None:
    text = printed(capsys, "explain", str(SAXPY), "--kernel", "saxpy", "--print-after", "all", "--verify-each")
    assert " after split-values: no change\n== " in text
    assert " after fold-parameters\n$B0:\n" in text
    (shot,) = as_json(capsys, "explain", str(SAXPY), "--kernel", "saxpy", "--print-after", "FoldConstants")
    assert (shot["pass"], shot["changed"]) == ("fold-constants", True)
    assert complaint(capsys, 1, "explain", str(SAXPY), "--print-after", "fold-constant") == (
        "warpreg: no pass named 'fold-constant'; did you mean 'fold-constants'?\n"
    )
    assert "does not run with these options" in complaint(
        capsys, 2, "explain", str(SAXPY), "--print-after", "narrow-addresses"
    )


def test_explain_as_json_has_every_instruction(capsys: Output) -> None:
    (kernel,) = as_json(capsys, "explain", str(SAXPY), "--kernel", "saxpy", "--design", "rfc")
    instructions = [i for block in kernel["blocks"] for i in block["instructions"]]
    assert [i["pc"] for i in instructions] == list(range(len(instructions)))
    assert kernel["live_at_most"] <= kernel["registers"]
    (fma,) = [i for i in instructions if "fma" in i["text"]]
    assert "may wait for memory" in fma["design"]


def test_spilling_shows_in_the_listing(capsys: Output) -> None:
    (roomy,) = as_json(capsys, "explain", "matrix-mul")
    (tight,) = as_json(capsys, "explain", "matrix-mul", "--max-registers", "12")
    assert roomy["registers"] > 12 >= tight["registers"]
    assert tight["local_bytes"] > 0


@pytest.mark.slow
def test_the_demo_writes_its_figure(capsys: Output, tmp_path: Path) -> None:
    text = printed(capsys, "demo", "--size", "tiny", "--output", str(tmp_path))
    assert "all 8 workloads match" in text
    assert (tmp_path / "rfc.png").stat().st_size > 10_000
    assert (tmp_path / "rfc.svg").exists()
