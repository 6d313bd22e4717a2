"""The placement benchmark: rows and sums, without timing."""

from __future__ import annotations

import json

import pytest

from warpreg import workloads
from warpreg.cli import main
from warpreg.ir.module import Module
from warpreg_workbench.bench import placement_time
from warpreg_workbench.bench.placement_time import DESIGNS, PlacementTime


def test_seconds_are_added(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def timed(name: str, module: Module) -> PlacementTime:
        return PlacementTime(name, len(module.kernels), 10, {"orf-lrf": 0.5, "rsp": 0.25})

    monkeypatch.setattr(placement_time, "placement_time", timed)
    monkeypatch.setattr(workloads, "names", lambda: ["vector-add", "reduction"])
    assert main(["bench", "placement", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["placement_s"] == {"orf-lrf": 1.0, "rsp": 0.5}
    assert found["kernels"] == 2
    assert [row["workload"] for row in found["workloads"]] == ["vector-add", "reduction"]


def test_a_workload_s_kernels_are_placed_by_each_design() -> None:
    found = placement_time.placements(["vector-add"])
    (row,) = found["workloads"]
    assert (found["kernels"], row["kernels"]) == (1, 1)
    assert all(row[design] == found["placement_s"][design] > 0 for design in DESIGNS)
