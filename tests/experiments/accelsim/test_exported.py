"""Exported runs of several launches, and the file of Accel-Sim's cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg.experiments.accelsim.exported import CyclesError, compare, figures, read_cycles

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
    assert found["spearman_v100"] == 1
    assert figures(rows[2:]) == {}


@pytest.mark.slow
def test_a_kept_second_level_reads_less_of_dram() -> None:
    (row,) = compare(["backprop"], ["v100"])
    assert row["launches"] == 2
    assert row["dram_reads"] < row["cold_dram_reads"]
    assert row["cycles"] < row["cold_cycles"]
