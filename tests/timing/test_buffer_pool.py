"""The buffer pool reused across launches: old contents of buffers have no effect."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import simt
from warpreg.evaluation.runs.run import find_workload, run_workload
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


@pytest.fixture
def empty_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer_pool, "_pool", [])


def buffers(*sizes: int) -> list[buffer_pool.Array]:
    """Buffers of so many words, that are in the pool."""
    made = [np.empty(size, np.int64) for size in sizes]
    buffer_pool.keep(one[1:] for one in made)
    return made


@pytest.mark.usefixtures("empty_pool")
def test_the_smallest_large_enough_buffer_is_given() -> None:
    large, small = buffers(15, 10)
    assert buffer_pool.room(16).size == 16
    assert buffer_pool.room(10) is small
    assert buffer_pool.room(10) is large
    assert buffer_pool.room(10).size == 10


@pytest.mark.usefixtures("empty_pool")
def test_a_small_request_leaves_a_large_buffer_to_others() -> None:
    (large,) = buffers(100)
    assert buffer_pool.room(49).size == 49
    assert buffer_pool.room(50) is large


@pytest.mark.usefixtures("empty_pool")
def test_buffers_of_other_launches_stay_until_there_are_too_many() -> None:
    first, *_ = buffers(1000, *range(1, buffer_pool.BUFFERS))
    assert buffer_pool.room(1000) is first
    first, *_ = buffers(1000, *range(1, buffer_pool.BUFFERS + 1))
    assert buffer_pool.room(1000) is not first
