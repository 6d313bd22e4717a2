"""Lines, sectors and bank conflicts of 32 lane addresses: by hand, and against a naive model on random lanes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from warpreg.timing.feed import coalescer

ALL = 0xFFFFFFFF


def active(addresses: list[int], mask: int) -> NDArray[np.int64]:
    """Addresses of the lanes of a mask, as `coalesce` takes them."""
    lanes = np.zeros(32, np.int64)
    chosen = [address for lane, address in enumerate(addresses) if mask >> lane & 1]
    lanes[: len(chosen)] = chosen
    return lanes


def lines(addresses: list[int], mask: int = ALL, size: int = 4) -> list[tuple[int, int]]:
    """(line, sectors) of lanes."""
    found, scratch = np.zeros(600, np.int64), np.full(coalescer.SCRATCH_WORDS, 599)
    count = coalescer.lines(active(addresses, mask), mask.bit_count(), size, found, 0, scratch)
    return pairs(found[:count])


def pairs(words: NDArray[np.int64]) -> list[tuple[int, int]]:
    """(line, sectors) of words."""
    return [(int(word) & ~127, int(word) & 15) for word in words]


def conflicts(
    addresses: list[int],
    mask: int = ALL,
    size: int = 4,
    bank_bytes: int = 4,
    merged: int = 1,
    banks: int = 32,
    pairs: int = 0,
) -> int:
    scratch = np.full(coalescer.SCRATCH_WORDS, 255)
    shift = bank_bytes.bit_length() - 1
    return coalescer.conflicts(active(addresses, mask), mask, size, banks, shift, merged, pairs, scratch)


def ramp(base: int, stride: int) -> list[int]:
    return [base + stride * lane for lane in range(32)]


def test_neighbouring_words_share_a_line() -> None:
    assert lines(ramp(0x1000, 4)) == [(0x1000, 0b1111)]


def test_a_row_that_begins_in_the_middle_of_a_line_takes_two() -> None:
    # 0x1040 is the third sector of its line: 64 bytes in it, 64 in the next.
    assert lines(ramp(0x1040, 4)) == [(0x1000, 0b1100), (0x1080, 0b0011)]


def test_a_stride_of_a_sector_takes_every_sector_of_eight_lines() -> None:
    assert lines(ramp(0, 32)) == [(128 * line, 0b1111) for line in range(8)]


def test_lines_come_in_the_order_of_the_first_lane_that_touches_them() -> None:
    assert lines([512, 0, 544] + [0] * 29, mask=0b111) == [(512, 0b0011), (0, 0b0001)]


def test_an_access_across_a_line_takes_both() -> None:
    assert lines([126] * 32, mask=1, size=4) == [(0, 0b1000), (128, 0b0001)]


@pytest.mark.parametrize(("stride", "degree"), [(4, 1), (8, 2), (12, 1), (16, 4), (128, 32), (132, 1), (0, 1)])
def test_word_strides_conflict_by_their_common_divisor_with_32(stride: int, degree: int) -> None:
    assert conflicts(ramp(64, stride)) == degree


def test_wide_accesses_go_in_parts_of_the_warp() -> None:
    assert conflicts(ramp(0, 8), size=8) == 2  # two halves, each all banks once
    assert conflicts(ramp(0, 16), size=16) == 4
    assert conflicts(ramp(0, 8), mask=0xFFFF, size=8) == 1  # the upper half is idle


def test_parts_that_do_not_conflict_pass_in_pairs() -> None:
    """The H100 takes one cycle for 8 bytes of one address, and two for 16: the four quarters make two pairs."""
    assert [conflicts(ramp(0, 0), size=size, pairs=1) for size in (4, 8, 16)] == [1, 1, 2]
    assert [conflicts(ramp(0, size), size=size, pairs=1) for size in (4, 8, 16)] == [1, 2, 4]


def test_banks_of_eight_bytes() -> None:
    assert conflicts(ramp(0, 8), size=8, bank_bytes=8) == 1
    assert conflicts(ramp(0, 8), size=4, bank_bytes=8) == 1
    assert conflicts(ramp(0, 256), size=4, bank_bytes=8) == 32


def test_atomics_on_one_word_take_turns() -> None:
    assert conflicts(ramp(0, 0), merged=0) == 32
    assert conflicts(ramp(0, 4), merged=0) == 1


def naive_lines(addresses: list[int], mask: int, size: int) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for lane, address in enumerate(addresses):
        if mask >> lane & 1:
            for byte in range(address, address + size):
                line = byte // 128 * 128
                found[line] = found.get(line, 0) | 1 << (byte % 128 // 32)
    return list(found.items())


def naive_conflicts(
    addresses: list[int], mask: int, size: int, bank_bytes: int, merged: int, count: int = 32, pairs: int = 0
) -> int:
    def degree(lanes: range) -> int:
        banks = defaultdict(list)
        for lane in lanes:
            if mask >> lane & 1:
                first, last = addresses[lane] // bank_bytes, (addresses[lane] + size - 1) // bank_bytes
                for word in range(first, last + 1):
                    banks[word % count].append(word)
        return max((len(set(words) if merged else words) for words in banks.values()), default=0)

    width = 32 // max(1, size // bank_bytes)
    if pairs and width < 32:
        both = [range(part, part + 2 * width) for part in range(0, 32, 2 * width)]
        return sum(1 if degree(one) == 1 else degree(one[:width]) + degree(one[width:]) for one in both)
    return sum(degree(range(part, part + width)) for part in range(0, 32, width))


near = st.lists(st.integers(0, 600), min_size=32, max_size=32)
masks = st.integers(0, ALL)
some_masks = st.one_of(st.just(ALL), st.integers(1, ALL))
sizes = st.sampled_from([1, 2, 4, 8, 16, 32])


@given(near, masks, sizes)
def test_lines_are_those_of_a_naive_model(addresses: list[int], mask: int, size: int) -> None:
    assert lines(addresses, mask, size) == naive_lines(addresses, mask, size)


@given(st.lists(st.integers(0, 1 << 48), min_size=32, max_size=32), masks, sizes)
def test_lines_far_apart_are_told_apart(addresses: list[int], mask: int, size: int) -> None:
    twice = [*addresses[:16], *addresses[:16]]
    assert lines(twice, mask, size) == naive_lines(twice, mask, size)


@given(masks)
def test_lanes_of_a_mask_are_counted(mask: int) -> None:
    assert coalescer.lanes_in(mask) == mask.bit_count()


@given(st.integers(-40, 300), masks, st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_neighbours_of_a_mask_are_as_its_lanes_one_by_one(place: int, mask: int, size: int) -> None:
    # Lane 0 may lie below address 0 where it is idle.
    found = np.zeros(32, np.int64)
    count = coalescer.masked_lines(place * size, mask, size, found, 0)
    assert pairs(found[:count]) == naive_lines(ramp(place * size, size), mask, size)


widths = st.sampled_from([4, 8])
counts = st.sampled_from([8, 16, 32, 64])


@given(near, masks, sizes, widths, st.integers(0, 1), counts, st.integers(0, 1))
def test_conflicts_are_those_of_a_naive_model(
    a: list[int], mask: int, size: int, width: int, merged: int, count: int, pairs: int
) -> None:
    found = conflicts(a, mask, size, width, merged, count, pairs)
    assert found == naive_conflicts(a, mask, size, width, merged, count, pairs)


@given(
    st.integers(0, 64), st.integers(-70, 70), some_masks, st.sampled_from([1, 2, 4, 8, 16]), widths, counts,
    st.integers(0, 1),
)  # fmt: skip
def test_the_short_cut_for_regular_lanes_agrees(
    base: int, stride: int, mask: int, size: int, width: int, count: int, pairs: int
) -> None:
    found = coalescer.row_conflicts(stride * size, mask, size, count, width.bit_length() - 1, pairs)
    lanes = ramp(8192 + base * size, stride * size)
    assert found in (0, naive_conflicts(lanes, mask, size, width, 1, count, pairs))
    if stride:
        assert found in (0, naive_conflicts(lanes, mask, size, width, 0, count, pairs))


@pytest.mark.parametrize(("stride", "mask", "size", "degree"), [(4, 0xFF00, 4, 1), (8, 0xF, 8, 1), (16, 0x0101, 16, 2)])
def test_rows_with_idle_lanes_need_no_look_at_each(stride: int, mask: int, size: int, degree: int) -> None:
    # Of 16-byte accesses a quarter of the warp goes at once: lanes 0 and 8 are in two.
    assert coalescer.row_conflicts(stride, mask, size, 32, 2, 0) == degree


@given(st.integers(0, 300), st.integers(1, 700))
def test_a_run_of_bytes_is_as_its_bytes_one_by_one(first: int, length: int) -> None:
    found = np.zeros(32, np.int64)
    count = coalescer.row_lines(first, length, found, 0)
    expected = naive_lines([first] * 32, 1, length)
    assert pairs(found[:count]) == expected


@given(st.integers(0, 10), masks, st.sampled_from([1, 2, 4, 8, 16]))
def test_local_rows_are_local_lines_at_one_offset(word: int, mask: int, size: int) -> None:
    short, general = np.zeros(64, np.int64), np.zeros(600, np.int64)
    lanes = np.full(32, 4 * word)
    count = coalescer.local_lines(lanes, mask, size, 4096, general, 0)
    if mask:
        assert coalescer.local_rows(4 * word, mask, size, 4096, short, 0) == count
        assert sorted(short[:count]) == sorted(general[:count])
    else:
        assert count == 0


def test_local_words_of_neighbouring_lanes_are_neighbours() -> None:
    # Word 3 of each lane: one row of 128 bytes, the fourth of the frame.
    found = np.zeros(64, np.int64)
    assert coalescer.local_lines(np.full(32, 12), ALL, 4, 1 << 40, found, 0) == 1
    assert found[0] == (1 << 40) + 3 * 128 | 15
