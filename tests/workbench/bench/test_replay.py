"""The replay benchmark: rows and means, without timing."""

from __future__ import annotations

import json

import pytest

from warpreg.cli import main
from warpreg_workbench.bench import replay
from warpreg_workbench.bench.replay import DESIGNS, ReplaySpeed


def test_each_design_has_a_mean(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Speeds of 100, 200 and 400 have the geometric mean 200."""
    speeds = iter([100.0, 200.0, 400.0])

    def speed(name: str, size: str) -> ReplaySpeed:
        return ReplaySpeed(name, 10, dict.fromkeys(DESIGNS, next(speeds)))

    monkeypatch.setattr(replay, "replay_speed", speed)
    assert main(["bench", "replay", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["replay_maccess_s"] == {design: pytest.approx(200) for design in DESIGNS}
    assert [row["workload"] for row in found["workloads"]] == list(replay.WORKLOADS)


def test_only_the_compiler_benchmark_takes_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "replay", "--address-bits", "32"]) == 2
    assert "compiler" in capsys.readouterr().err
