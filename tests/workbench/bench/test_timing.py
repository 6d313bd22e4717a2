"""The figures of the timing core: names and summaries, without timing."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from warpreg.cli import main
from warpreg_workbench.bench import timing
from warpreg_workbench.bench.spine import WORKLOADS

KEYS = [
    "timing_mwi_s_geomean",
    "timing_mwi_s_min",
    "timing_ns_geomean",
    "chase_ns",
    "memory_share_mean",
    "threads_speedup_geomean",
    "modern_ratio_geomean",
    "modern_ratio_max",
    "hook_overhead_max",
    "first_compile_s",
    "later_start_s",
    "traceg_mb_s",
]


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads take turns at 2 and 8 M a second; with hooks all run at 1.6."""
    speeds = {name: (2.0, 8.0)[i % 2] for i, name in enumerate(WORKLOADS)}
    monkeypatch.setattr(timing, "find_workload", str)
    monkeypatch.setattr(
        timing, "run_workload", lambda name, size, record: SimpleNamespace(name=name, warp_instructions=1)
    )
    monkeypatch.setattr(timing, "speed", lambda run, machine: speeds[run.name])
    monkeypatch.setattr(timing, "slowdown", lambda run, machine, designs: speeds[run.name] / 1.6)
    monkeypatch.setattr(timing, "memory_share", lambda run, machine, instructions: 0.1 * speeds[run.name])
    monkeypatch.setattr(timing, "threads_speedup", lambda run, machine, instructions: 1 / speeds[run.name])
    monkeypatch.setattr(timing, "modern_ratio", lambda name, size: speeds[name] / 4)
    monkeypatch.setattr(timing, "chase_ns", lambda: 5.0)
    monkeypatch.setattr(timing, "start_seconds", lambda: (12.0, 1.25))
    monkeypatch.setattr(timing, "traces", lambda: {"traceg_mb_s": 60.0})


@pytest.mark.usefixtures("pretended")
def test_the_figures_have_their_names_and_summaries(capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the workloads run at 2, half at 8: 4 in geometric mean.  8 is 5 times 1.6."""
    assert main(["bench", "timing", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(found) == [*KEYS, "machine", "workloads"]
    assert list(found["timing_mwi_s_geomean"]) == ["gebhart", "gtx480", "titanx", "v100"]
    assert found["timing_mwi_s_geomean"]["v100"] == pytest.approx(4)
    assert found["timing_mwi_s_min"]["gebhart"] == 2
    assert found["timing_ns_geomean"]["v100"] == pytest.approx(250)
    assert (found["memory_share_mean"]["gtx480"], found["chase_ns"]) == (pytest.approx(0.5), 5)
    assert found["threads_speedup_geomean"]["gebhart"] == pytest.approx(0.25)
    assert (found["modern_ratio_geomean"], found["modern_ratio_max"]) == (pytest.approx(1), 2)
    assert found["hook_overhead_max"] == pytest.approx(4)
    assert (found["first_compile_s"], found["later_start_s"], found["traceg_mb_s"]) == (12, 1.25, 60)


def test_the_overhead_of_hooks_is_that_of_the_best_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that compiles does not count; then 6 without hooks is the best, and 5 with them."""
    rates = iter([0.1, 0.1, 6.0, 4.0, 3.0, 2.0, 5.5, 5.0])
    monkeypatch.setattr(timing, "rate", lambda run, machine, designs=(): next(rates))
    assert timing.slowdown(SimpleNamespace(), "gtx480", ("rfc",)) == pytest.approx(1.2)  # type: ignore[arg-type]
