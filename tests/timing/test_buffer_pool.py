"""The buffer pool reused across launches: old contents of buffers have no effect."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import simt
from warpreg.experiments.runs.run import find_workload, run_workload
from warpreg.timing import simulate
from warpreg.timing.core import buffer_pool


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["gebhart", "gtx480"])
def test_what_a_launch_leaves_changes_nothing_of_the_next(machine: str) -> None:
    run = run_workload(find_workload("bfs"), "tiny", record=simt.Record(path=True, addresses=True))
    before = simulate(run.launches, machine).as_dict()
    generator = np.random.default_rng(7)
    assert buffer_pool._pool
    for words in buffer_pool._pool:
        words[:] = generator.integers(-(2**62), 2**62, words.size)
    assert simulate(run.launches, machine).as_dict() == before


def test_the_smallest_large_enough_buffer_is_given() -> None:
    small, large = np.empty(10, np.int64), np.empty(100, np.int64)
    buffer_pool.keep((large[1:], small[1:]))
    assert buffer_pool.room(101).size == 101
    assert buffer_pool.room(10) is small
    assert buffer_pool.room(10) is large
    assert buffer_pool.room(10).size == 10
