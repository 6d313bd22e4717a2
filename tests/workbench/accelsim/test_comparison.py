"""The timing core against the cycles of Accel-Sim on the same traces (docs/explanation/accelsim.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg.sass.reader import read_recording
from warpreg_workbench.accelsim import comparison
from warpreg_workbench.accelsim.kernels import KERNELS
from warpreg_workbench.accelsim.trace_files import write


def test_kernels_have_the_instructions_that_accelsim_counted(tmp_path: Path) -> None:
    for name, counted in comparison.recorded_cycles()["cycles"].items():
        if counted["warp_instructions"] < 25_000:
            listed = write(tmp_path / name, name, KERNELS[name], 70)
            (launch,) = read_recording(listed).launches
            assert launch.warp_instructions == counted["warp_instructions"]


@pytest.mark.slow
def test_cycles_are_near_those_of_accelsim_and_in_the_same_order() -> None:
    found = comparison.summary(comparison.compare())
    assert found["factor_geomean"] <= 1.25
    assert min(found[f"spearman_{machine}"] for machine in comparison.machines()) >= 0.95
