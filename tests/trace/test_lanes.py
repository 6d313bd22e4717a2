"""Active lanes over a path, by hand and against the naive decoder."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warpreg.trace.lanes import lane_instructions
from warpreg.trace.path import visits

LENGTHS = np.array([5, 3, 2], np.int64)


def test_lanes_of_two_warps_by_hand() -> None:
    path = np.array(
        [
            3, 0,  # thread block 0
            0 << 2 | 2, 0 << 2 | 1, 0xFFFFFFFF,  # warp 0, block 0, 32 lanes: 5 * 32
            1 << 2 | 1, 0x7,  # block 1, 3 lanes: 3 * 3
            1 << 2 | 2, 2 << 2 | 1, 0x1,  # warp 1, block 2, one lane: 2 * 1
            0 << 2 | 2, 2 << 2 | 0,  # warp 0 again, block 2, still 3 lanes: 2 * 3
        ],
        np.uint32,
    )  # fmt: skip
    assert lane_instructions([path[:5], path[5:]], LENGTHS) == 160 + 9 + 2 + 6


@given(st.lists(st.tuples(st.integers(0, 63), st.integers(0, 2), st.integers(1, 2**32 - 1)), max_size=30))
def test_the_plain_decoder_agrees(steps: list[tuple[int, int, int]]) -> None:
    words = [3, 0]
    for warp, block, mask in steps:
        words += [warp << 2 | 2, block << 2 | 1, mask, block << 2]
    path = np.array(words, np.uint32)
    expected = sum(int(LENGTHS[visit.block]) * visit.mask.bit_count() for visit in visits([path]))
    assert lane_instructions([path], LENGTHS) == expected
