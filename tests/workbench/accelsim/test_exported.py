"""Exported runs of several launches, and the file of Accel-Sim's cycles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warpreg.cli import main
from warpreg_workbench.accelsim import exported
from warpreg_workbench.accelsim.comparison import factor
from warpreg_workbench.accelsim.exported import CyclesError, compare, figures, read_cycles

GOOD = "launch_cycles = 5000\n\n[cycles.backprop]\nv100 = 25000\n"


def test_the_latency_of_each_launch_is_subtracted(tmp_path: Path) -> None:
    file = tmp_path / "cycles.toml"
    file.write_text(GOOD)
    theirs = read_cycles(file)
    assert theirs.of("backprop", "v100", launches=2) == 25000 - 2 * 5000
    assert theirs.of("backprop", "titanx", launches=2) is None
    assert theirs.of("bfs", "v100", launches=2) is None


@pytest.mark.parametrize(
    ("found", "put", "message"),
    [
        ("cycles.backprop", "cycles.backpropagation", "cycles.backpropagation: expected one of 3mm, b-tree"),
        ("v100 = 25000", "v1000 = 25000", "cycles.backprop.v1000: expected one of v100, rtx3070, titanx"),
        ("v100 = 25000", "v100 = 2.5", "cycles.backprop.v100: expected a number of cycles, found 2.5"),
        ("v100 = 25000", "v100 = true", "cycles.backprop.v100: expected a number of cycles, found True"),
        ("launch_cycles = 5000", "launch_cycles = -1", "launch_cycles: expected a number of cycles, found -1"),
        ("launch_cycles", "launch", "expected launch_cycles and tables [cycles.WORKLOAD], found 'launch'"),
        ("[cycles.backprop]\nv100 = 25000", "", "expected tables [cycles.WORKLOAD] with cycles by machine"),
        ("v100 = 25000", "v100 =", "Invalid value"),
    ],
)
def test_a_wrong_file_of_cycles_is_named(tmp_path: Path, found: str, put: str, message: str) -> None:
    assert found in GOOD
    file = tmp_path / "cycles.toml"
    file.write_text(GOOD.replace(found, put))
    with pytest.raises(CyclesError) as caught:
        read_cycles(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_figures_are_of_the_rows_with_known_cycles() -> None:
    rows = [
        {"machine": "v100", "workload": "bfs", "cycles": 100, "accelsim_cycles": 200, "factor": 2.0},
        {"machine": "v100", "workload": "nw", "cycles": 900, "accelsim_cycles": 450, "factor": 2.0},
        {"machine": "v100", "workload": "scan", "cycles": 7},
    ]
    found = figures(rows)
    assert found["factor_geomean"] == pytest.approx(2)
    assert found["spearman_v100"] == pytest.approx(1)
    assert figures(rows[2:]) == {}


def test_the_command_reads_the_file_and_prints_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "cycles.toml"
    file.write_text(GOOD)

    def timed(theirs: exported.AccelSimCycles, begin: object) -> list[dict[str, Any]]:
        known = theirs.of("backprop", "v100", 2)
        assert known == 15000
        row = {"machine": "v100", "workload": "backprop", "cycles": 30000, "accelsim_cycles": known}
        return [row | factor(30000, known), {"machine": "titanx", "workload": "backprop", "cycles": 7}]

    monkeypatch.setattr(exported, "compare", timed)
    assert main(["bench", "accelsim-runs", "--accelsim-cycles", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["factor_geomean_v100"] == pytest.approx(2)
    assert [row["workload"] for row in found["runs"]] == ["backprop", "backprop"]
    assert main(["bench", "accelsim-runs", "--accelsim-cycles", str(file)]) == 0
    assert "30000" in capsys.readouterr().out.replace(",", "")


def test_the_file_of_cycles_belongs_to_exported_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "cycles.toml"
    file.write_text(GOOD)
    assert main(["bench", "accelsim", "--accelsim-cycles", str(file)]) == 2
    assert capsys.readouterr().err.startswith("warpreg: --accelsim-cycles requires 'warpreg bench accelsim-runs'")
    file.write_text("[cycles")
    assert main(["bench", "accelsim-runs", "--accelsim-cycles", str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_a_kept_second_level_reads_less_of_dram() -> None:
    (row,) = compare(["backprop"], ["v100"])
    assert row["launches"] == 2
    assert row["dram_reads"] < row["cold_dram_reads"]
    assert row["cycles"] < row["cold_cycles"]
