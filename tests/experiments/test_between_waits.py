"""How often warps may have to wait."""

from __future__ import annotations

import pytest

from warpreg.experiments.measures.between_waits import InstructionsBetweenWaits
from warpreg.experiments.runs.run import find_workload, run_workload


def test_a_warp_that_waits_once_has_two_stretches() -> None:
    """In vector-add a warp that has elements waits for two loads together; one without has nothing to wait for."""
    run = run_workload(find_workload("vector-add"), "tiny")
    warps = sum(launch.warps for launch in run.launches)
    waits = sum(int(launch.block_visits[1]) for launch in run.launches)
    assert warps / 2 < waits < warps
    assert InstructionsBetweenWaits()(run) == pytest.approx(run.warp_instructions / (warps + waits))
