"""Warps with the same path are counted once, times their number."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import Recorded
from tests.replay.random_runs import runs

from piecewise_numba.options import Mode
from warpreg.ir.kernel import Kernel
from warpreg.replay import ReplayError, distinct_warps, profile, replay
from warpreg.replay.replay import Suspend

TWO_BLOCKS = kernel([op("mov.b32", r(1), 1)], [op("add.s32", r(2), r(1), r(1))])


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_warps_of_several_thread_blocks_and_launches_are_one_if_blocks_and_lanes_are_the_same(mode: Mode) -> None:
    first = Recorded().thread_block(0).warp(0).visits(0, 1).warp(1).visits(0, 1).warp(2).visits(0, mask=3)
    second = Recorded().thread_block(0).warp(0).visits(0).cut().visits(1, mask=None).warp(3).visits(0, 1, mask=3)
    found = distinct_warps([first, second], 2, mode)
    assert [part.warps for part in found.parts] == [1, 3]
    assert [chunk.size for chunk in found.path_chunks()] == [2 + (1 + 2) + (1 + 3), 2 + (1 + 3)]
    counts = replay(found, TWO_BLOCKS, "mrf", mode=mode)
    assert counts.warp_instructions == 3 * 2 + 1 + 2
    assert counts.reads() == 2 * 4


def test_more_warps_than_a_thread_block_has() -> None:
    path = Recorded().thread_block(0)
    for number in range(70):
        path = path.thread_block(number).warp(number % 32).visits(0, mask=number + 1)
    assert replay(distinct_warps([path], 2), TWO_BLOCKS, "rfc").warp_instructions == 70


def test_nothing_is_distinct_of_an_empty_path() -> None:
    assert distinct_warps([Recorded()], 2).parts == ()


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(ReplayError, match="visits block 2, the kernel has 2"):
        distinct_warps([Recorded().thread_block().warp(0).visits(2)], 2)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(runs(), st.sampled_from(["never", "static"]))
def test_counts_are_those_of_the_whole_path(run: tuple[Kernel, Recorded], suspend: Suspend) -> None:
    code, path = run
    chosen: dict[str, dict[str, Any]] = {
        "mrf": {},
        "rfc": {"entries": 2, "static_liveness": True},
        "rfc-lrf": {"entries": 2},
        "orf-lrf": {},
    }
    for design, parameters in chosen.items():
        whole = replay(path, code, design, suspend=suspend, **parameters)
        distinct = replay(distinct_warps([path], len(code.blocks)), code, design, suspend=suspend, **parameters)
        assert distinct.as_dict() == whole.as_dict()
    assert profile(distinct_warps([path], len(code.blocks)), code).as_dict() == profile(path, code).as_dict()
