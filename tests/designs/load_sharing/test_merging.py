"""Partial sharing: one or two registers whose shifted lanes cover a load (thesis of 2021, §5.3.2, §5.5.2)."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.load_sharing.state import FULL
from tests.designs.load_sharing.test_address_table import A, Entry, table

from warpreg.designs.parts.load_sharing.merging import HOLDS, REGISTER, SHIFT, cover, shifted


def parts(entries: tuple[Entry, ...], base: int, stride: int = 4, lanes: int = FULL) -> list[tuple[int, int, int]]:
    """Register, shift and lanes of the parts that cover a load."""
    state = table(*entries)
    return [
        (int(row[REGISTER]), int(row[SHIFT]), int(row[HOLDS]))
        for row in state.near[0, : cover(state, 0, base, stride, lanes)]
    ]


def test_the_example_of_the_text() -> None:
    """The load begins three words after the first entry: that one is shifted down by 3 and lacks lanes 29 to 31, which
    are lanes 0 to 2 of the second.
    """
    entries: tuple[Entry, ...] = ((5, 0x10000000, 4, FULL), (9, 0x10000080, 4, FULL))
    assert sorted(parts(entries, 0x1000000C)) == [(5, 3, FULL >> 3), (9, -29, 0xE0000000)]


def test_without_the_second_register_the_load_goes_to_memory() -> None:
    assert parts(((5, 0x10000000, 4, FULL),), 0x1000000C) == []


def test_a_load_of_few_lanes_is_covered_by_one_register() -> None:
    assert parts(((5, A, 4, FULL),), A + 12, lanes=0xFFFF) == [(5, 3, 0xFFFF)]


def test_the_shift_counts_strides() -> None:
    assert parts(((5, A, 8, FULL), (6, A + 256, 8, FULL)), A + 8, 8) == [(6, -31, 1 << 31), (5, 1, FULL >> 1)]
    assert parts(((5, A, 8, FULL), (6, A + 256, 8, FULL)), A + 4, 8) == []


def test_loads_of_one_word_are_not_merged() -> None:
    assert parts(((5, A, 0, FULL),), A + 4, 0) == []


def test_lanes_move_down_and_up() -> None:
    assert shifted(0b1100, 2) == 0b11
    assert shifted(1, -31) == 1 << 31
    assert shifted(2, -31) == 0


entries = st.lists(st.tuples(st.integers(-40, 40), st.sampled_from((FULL, 0xFFFF, 0xFFFFFF00, 1 << 31))), max_size=5)


@settings(max_examples=150, deadline=None)
@given(entries, st.sampled_from((4, 12)), st.sampled_from((FULL, 0xFFFF, 0x80000001, 1)))
def test_it_finds_a_cover_if_there_is_one(placed: list[tuple[int, int]], stride: int, lanes: int) -> None:
    held = tuple((i, A + word * stride, stride, mask) for i, (word, mask) in enumerate(placed))
    found = parts(held, A, stride, lanes)
    holds = [_wanted(mask, word) & lanes for word, mask in placed]
    fewest = min((n for n in (1, 2) for chosen in combinations(holds, n) if _union(chosen) == lanes), default=0)
    assert len(found) == fewest
    if found:
        assert _union([part[2] for part in found]) == lanes
    for register, shift, mask in found:
        word, own = placed[register]
        assert (-shift, _wanted(own, word) & lanes) == (word, mask)


def _wanted(mask: int, word: int) -> int:
    """Lane ``i`` of the load is lane ``i - word`` of the entry."""
    return sum(1 << lane for lane in range(32) if 0 <= lane - word < 32 and mask >> lane - word & 1)


def _union(masks: tuple[int, ...] | list[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
