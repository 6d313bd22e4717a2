"""Equation 1, counters and samples of MEM_RA, by hand (hybrid CMOS-TFET, sections 3.2, 3.3)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpreg.designs.parts.hybrid.columns import COUNTER, WARP_COLUMNS
from warpreg.designs.parts.hybrid.prediction import (
    MEAN,
    MOST,
    OF_SM,
    OF_WARP,
    SAMPLE_WORDS,
    SAMPLED,
    absorb,
    affords,
    begin_access,
    end_access,
    stall_cycles,
)


@pytest.mark.parametrize(
    ("previous", "sample", "expected"),
    [
        (9, 500, 0),
        (10, 500, 0),  # no longer than the threshold
        (11, 500, 1),
        (210, 128, 200),  # the sample is at the reference: all of the excess
        (210, 2047, 200),
        (210, 64, 100),  # half of the reference: half of the excess
        (210, 127, 200 * 127 // 128),
        (210, 0, 0),
        (2047, 127, 2037 * 127 >> 7),
    ],
)
def test_equation_1(previous: int, sample: int, expected: int) -> None:
    assert stall_cycles(previous, sample, threshold=10, shift=7) == expected


@given(st.integers(0, MOST), st.integers(0, MOST), st.integers(0, 100), st.integers(0, 11))
def test_the_shift_is_the_division_of_equation_1(previous: int, sample: int, threshold: int, shift: int) -> None:
    """Rounded down, at most the excess, and it never falls when an access takes longer."""
    found = stall_cycles(previous, sample, threshold, shift)
    excess = max(previous - threshold, 0)
    assert found == min(int(excess * (sample / 2**shift)), excess)
    assert stall_cycles(previous + 1, sample, threshold, shift) >= found


def warps(scope: int = OF_SM, period: int = 100, number: int = 2) -> Any:
    """Warps of one SM, threshold 10 and reference 128."""
    columns = np.zeros((number, WARP_COLUMNS), np.int64)
    rows = number if scope == OF_WARP else 1
    sample = np.zeros((rows, SAMPLE_WORDS), np.int64)
    return SimpleNamespace(threshold=10, shift=7, period=period, scope=scope, sample=sample, warps=columns)


def access(state: Any, warp: int, begin: int, end: int) -> None:
    begin_access(state, warp, begin)
    end_access(state, 0, warp, end - begin, end)


def test_a_counter_counts_the_access_and_then_holds_the_stall() -> None:
    state = warps()
    access(state, 0, 1000, 1150)
    assert state.warps[0, COUNTER] == 140  # 150 cycles, sampled too and above 128: less the threshold
    for _ in range(69):
        absorb(state, 0)
    assert state.warps[0, COUNTER] == 2
    assert affords(state, 0)
    absorb(state, 0)
    assert not affords(state, 0)
    absorb(state, 0)
    assert state.warps[0, COUNTER] == 0


def test_a_counter_of_one_is_not_enough() -> None:
    """Section 3.3: larger than one."""
    state = warps()
    state.warps[0, COUNTER] = 1
    assert not affords(state, 0)


def test_a_counter_has_11_bits() -> None:
    state = warps()
    access(state, 0, 0, 5000)
    assert state.warps[0, COUNTER] == 2047 - 10


def test_overlapping_accesses_are_one_wait_from_the_last_one_on() -> None:
    state = warps(period=1000)
    begin_access(state, 0, 0)
    begin_access(state, 0, 40)
    assert not end_access(state, 0, 0, 100, 100)
    assert state.warps[0, COUNTER] == 0
    assert end_access(state, 0, 0, 260, 300)
    assert state.sample[0, SAMPLED] == 100  # of the access that ended first
    assert state.warps[0, COUNTER] == 250 * 100 >> 7  # 300 - 40 cycles, less 10, in proportion to the sample


def test_a_new_access_resets_the_counter() -> None:
    state = warps()
    access(state, 0, 0, 200)
    begin_access(state, 0, 300)
    assert not affords(state, 0)


@pytest.mark.parametrize(
    ("scope", "sampled"),
    [(OF_SM, [50, 50, 50, 200]), (MEAN, [50, 50, 50, 150]), (OF_WARP, [50, 90, 50, 200])],
)
def test_a_sample_is_taken_once_a_period(scope: int, sampled: list[int]) -> None:
    """The first access is sampled in cycle 50; the next sample is due in 150.  The mean is that of the accesses since
    the last sample, of 90, 160 and 200 cycles.  A warp of its own samples 90 as its first and 200 as its second.
    """
    state = warps(scope)
    found = []
    for warp, cycles, end in ((0, 50, 50), (1, 90, 90), (0, 160, 149), (1, 200, 200)):
        begin_access(state, warp, end - cycles)
        end_access(state, 0, warp, cycles, end)
        found.append(int(state.sample[warp if scope == OF_WARP else 0, SAMPLED]))
    assert found == sampled
