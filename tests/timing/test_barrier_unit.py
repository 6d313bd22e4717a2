"""The barrier unit of an SM: arrivals one after the other, then a latency (docs/reference/timing.md, "Barriers")."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.designs.kernels import kernel
from tests.timing.assembly import assemble
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.machine import Barrier, Sm
from tests.timing.vocabulary import Timed


def barriers(count: int, warps: int, sm: Sm, blocks: int = 1) -> Timed:
    """So many barriers in a row, without anything else."""
    code = kernel([assemble("bar.sync 0") for _ in range(count)])
    return agreed(Launched(code, ((WarpPath(((0, FULL),)),) * warps,) * blocks), sm)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_a_barrier_takes_two_cycles_a_warp_and_twelve(warps: int) -> None:
    """As measured on an H100: from the first arrival on, the unit is busy for 2 cycles a warp; 12 more pass."""
    run = barriers(5, warps, Sm(slots=16, schedulers=4, barrier=Barrier(2, 12)))
    first = [issue.cycle for issue in run.issues() if issue.warp == 0]
    assert [b - a for a, b in pairwise(first)] == [12 + 2 * warps] * 4


def test_warps_wait_for_the_unit_with_cause_barrier() -> None:
    """One warp: issue in cycle 1, then 14 cycles until the next one, all of them at the barrier."""
    run = barriers(2, 1, Sm(slots=1, barrier=Barrier(2, 12)))
    run.warp(0).issues().at(1, 15)
    assert run.stalls.counts["barrier"] == 13


def test_thread_blocks_share_the_unit() -> None:
    """The blocks come in cycles 0 and 1.  Arrivals in cycles 1 and 2 pass the unit in cycles 3 and 5."""
    run = barriers(2, 1, Sm(slots=2, schedulers=2, barrier=Barrier(2, 12)), blocks=2)
    run.warp(0, block=0).issues().at(1, 3 + 12)
    run.warp(0, block=1).issues().at(2, 5 + 12)


def test_without_a_unit_warps_go_on_when_the_last_one_arrives() -> None:
    """After the latency of pipe ``ctrl``, 4 cycles in the machines of these tests."""
    barriers(3, 4, Sm(slots=4, schedulers=4)).warp(0).issues().every(4, first=1)
