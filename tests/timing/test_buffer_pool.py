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
    for words in buffer_pool._pool:
        words[:] = generator.integers(-(2**62), 2**62, words.size)
    buffers = {id(words) for words in buffer_pool._pool}
    del words
    assert simulate(run.launches, machine).as_dict() == before
    assert {id(one) for one in buffer_pool._pool} == buffers  # all were free


@pytest.fixture
def empty_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer_pool, "_pool", [])


def free(*sizes: int) -> None:
    """Make the pool have free buffers of so many words."""
    in_use = [buffer_pool.room(size) for size in sizes]
    assert [one.size for one in in_use] == list(sizes)


@pytest.mark.usefixtures("empty_pool")
def test_the_smallest_large_enough_buffer_is_given() -> None:
    free(15, 10)
    assert [buffer_pool.room(size).size for size in (16, 10)] == [16, 10]
    in_use = [buffer_pool.room(10) for _ in range(4)]
    assert [one.size for one in in_use] == [10, 15, 16, 10]


@pytest.mark.usefixtures("empty_pool")
def test_a_buffer_is_in_use_as_long_as_an_array_is_a_view_of_it() -> None:
    view = buffer_pool.room(10)[2:].reshape(2, 4)[1:]
    view[:] = 3
    assert not np.shares_memory(view, buffer_pool.room(10))
    address = view.__array_interface__["data"]
    del view
    both = [buffer_pool.room(10) for _ in range(2)]
    assert len(buffer_pool._pool) == 2
    assert address[0] in {one[6:].__array_interface__["data"][0] for one in both}


@pytest.mark.usefixtures("empty_pool")
def test_a_small_request_leaves_a_large_buffer_to_others() -> None:
    free(100)
    assert buffer_pool.room(49).size == 49
    assert buffer_pool.room(50).size == 100


@pytest.mark.usefixtures("empty_pool")
def test_buffers_of_other_launches_stay_until_there_are_too_many() -> None:
    free(1000, *range(1, buffer_pool.BUFFERS))
    assert buffer_pool.room(3000).size == 3000
    assert [one.size for one in buffer_pool._pool] == [1000, *range(1, buffer_pool.BUFFERS), 3000]
    assert buffer_pool.room(5000).size == 5000
    assert [one.size for one in buffer_pool._pool] == [*range(1, buffer_pool.BUFFERS), 3000, 5000]
