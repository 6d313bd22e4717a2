"""Decode a path from its words."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg.trace import PathWord, Visit, visits


def block(number: int) -> int:
    return number << 2 | PathWord.VISIT


def masked(number: int, mask: int) -> tuple[int, int]:
    return number << 2 | PathWord.VISIT_MASK, mask


def warp(number: int) -> int:
    return number << 2 | PathWord.WARP


def thread_block(index: int) -> tuple[int, int]:
    return PathWord.THREAD_BLOCK, index


WORDS = [
    *thread_block(0), warp(0), *masked(0, 0xFFFFFFFF), block(1), warp(1), *masked(0, 0xFF),
    warp(0), block(2), *masked(3, 0xF), warp(1), block(1),
    *thread_block(5), warp(0), *masked(0, 0xFFFFFFFF),
]  # fmt: skip
VISITS = [
    Visit(0, 0, 0, 0xFFFFFFFF), Visit(0, 0, 1, 0xFFFFFFFF), Visit(0, 1, 0, 0xFF), Visit(0, 0, 2, 0xFFFFFFFF),
    Visit(0, 0, 3, 0xF), Visit(0, 1, 1, 0xFF), Visit(5, 0, 0, 0xFFFFFFFF),
]  # fmt: skip


def test_each_warp_keeps_its_mask_until_it_changes() -> None:
    assert list(visits([np.array(WORDS, np.uint32)])) == VISITS


@pytest.mark.parametrize("cut", [2, 3, 5, 6, 7, 9, 10])
def test_chunks_may_break_between_any_two_records(cut: int) -> None:
    chunks = [np.array(WORDS[:cut], np.uint32), np.array(WORDS[cut:], np.uint32)]
    assert list(visits(chunks)) == VISITS


def test_a_path_of_nothing() -> None:
    assert list(visits([])) == []
    assert list(visits([np.array(thread_block(3), np.uint32)])) == []
