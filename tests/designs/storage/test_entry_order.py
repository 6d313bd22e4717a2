"""Entries by age in one word, against a list."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warpreg.designs.parts.storage.entry_order import (
    IN_ORDER,
    make_oldest,
    make_oldest_youngest,
    make_youngest,
    next_older,
    oldest,
)

moves = st.lists(st.tuples(st.booleans(), st.integers(0, 15)), max_size=30)


def as_list(order: np.uint64, entries: int) -> list[int]:
    found = []
    for _ in range(entries):
        found.append(int(oldest(order)))
        order = next_older(order)
    return found


def test_entry_0_is_the_oldest_at_first() -> None:
    assert as_list(IN_ORDER, 6) == [0, 1, 2, 3, 4, 5]


def test_the_oldest_becomes_the_youngest() -> None:
    assert as_list(make_youngest(IN_ORDER, 0, 3), 3) == [1, 2, 0]


@given(st.integers(1, 16), moves)
def test_moves_are_those_of_a_list(entries: int, chosen: list[tuple[bool, int]]) -> None:
    order, expected = IN_ORDER, list(range(entries))
    for forward, entry in chosen:
        if entry < entries:
            expected.remove(entry)
            expected.insert(0 if forward else entries, entry)
            order = (make_oldest if forward else make_youngest)(order, entry, entries)
    assert as_list(order, entries) == expected
    assert as_list(make_oldest_youngest(order, entries), entries) == [*expected[1:], expected[0]]
