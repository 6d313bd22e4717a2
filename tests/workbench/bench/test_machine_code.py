"""The figures of ``warpreg bench spine --code``: names and ratios without timing, and one tiny run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warpreg.cli import main
from warpreg.machine_code.assembler import MachineCode
from warpreg_workbench.bench import machine_code
from warpreg_workbench.bench.machine_code import Speeds

KEYS = [
    "functional_mwi_s_geomean", "functional_mwi_s_min", "ptx_mwi_s_geomean", "rate_ratio_geomean", "rate_ratio_max",
    "time_ratio_geomean", "time_ratio_max", "lifted_instructions_s", "machine", "workloads",
]  # fmt: skip


def test_ratios_are_those_of_the_turns() -> None:
    """Turns of 2 / 1, 3 / 2 and 3 / 1 seconds: the median is 2.  30 M of 40 M instructions in twice the time: 8 / 3."""
    speeds = Speeds("one", 30_000_000, 40_000_000, (2.0, 3.0, 3.0), (1.0, 2.0, 1.0))
    assert speeds.time_ratio == 2
    assert speeds.rate_ratio == pytest.approx(8 / 3)
    assert (speeds.mwi_s, speeds.ptx_mwi_s) == (10, 40)


def test_the_figures_have_their_names_and_summaries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Workloads take turns in being as fast as PTX, and half as fast."""
    ratios = iter([1.0, 2.0] * 4)

    def speeds(name: str, size: str, architecture: str) -> Speeds:
        assert architecture == "sm_80"
        return Speeds(name, 1_000_000, 1_000_000, (next(ratios),), (1.0,))

    monkeypatch.setattr(machine_code, "workload_speeds", speeds)
    monkeypatch.setattr(machine_code, "lifted_instructions_s", lambda assembler: 12_345.0)
    monkeypatch.setattr(MachineCode, "of", lambda architecture: MachineCode(architecture, "13.0"))
    assert main(["bench", "spine", "--code", "sm_80", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(found) == KEYS
    assert found["rate_ratio_max"] == found["time_ratio_max"] == 2
    assert found["rate_ratio_geomean"] == pytest.approx(2**0.5)
    assert found["functional_mwi_s_min"] == 0.5
    assert found["machine"]["target"] == "sm_80"
    assert [row["time_ratio"] for row in found["workloads"]] == [1, 2] * 4


def test_code_is_an_option_of_spine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "timing", "--code", "sm_80"]) == 2
    assert "--code requires 'warpreg bench spine'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_workload_is_measured_in_both_codes() -> None:
    pytest.importorskip("nvidia")
    found = machine_code.workload_speeds("vector-add", "tiny", "sm_80")
    assert len(found.seconds) == len(found.ptx_seconds) == machine_code.TURNS
    assert found.warp_instructions != found.ptx_warp_instructions
