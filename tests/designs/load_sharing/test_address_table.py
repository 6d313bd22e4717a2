"""The address mapping table of an SM (thesis of 2021, §5.4, §5.5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.load_sharing.state import FULL, PHYSICAL, fresh

from warpreg.designs.interface import IRREGULAR
from warpreg.designs.parts.load_sharing.address_table import (
    BUCKETS,
    find,
    insert,
    is_regular,
    remove,
    remove_all,
    remove_overlapping,
)
from warpreg.designs.parts.load_sharing.columns import COUNT, LANES, NONE, OLDEST, YOUNGER

A, B = 0x10000000, 0x10004000
Entry = tuple[int, int, int, int]
"""Physical register, base, stride, lanes."""


def table(*entries: Entry, size: int = PHYSICAL) -> Any:
    state = fresh(size)
    for register, base, stride, lanes in entries:
        insert(state, 0, register, base, stride, lanes)
    return state


def store(state: Any, addresses: Sequence[int], size: int = 4) -> int:
    """A store of these lanes, from lane 0 on."""
    state.addresses[0, : len(addresses)] = addresses
    return remove_overlapping(state, 0, (1 << len(addresses)) - 1, size)


def registers(state: Any) -> list[int]:
    """Those with an entry, from the oldest on."""
    found, one = [], int(state.own[0, OLDEST])
    while one != NONE:
        found.append(one)
        one = int(state.physical[0, one, YOUNGER])
    assert len(found) == state.own[0, COUNT]
    assert sorted(found) == np.flatnonzero(state.physical[0, :, LANES]).tolist()
    return found


def test_a_load_of_the_same_words_finds_the_register_of_figure_5_5() -> None:
    state = table((3, A, 4, FULL))
    assert find(state, 0, A, 4, FULL) == 3
    assert find(state, 0, B, 4, FULL) == NONE
    insert(state, 0, 1, B, 4, FULL)
    assert (find(state, 0, A, 4, FULL), find(state, 0, B, 4, FULL)) == (3, 1)


def test_another_stride_or_more_lanes_are_a_miss() -> None:
    state = table((3, A, 4, 0x0000FFFF))
    assert find(state, 0, A, 8, 0x0000FFFF) == NONE
    assert find(state, 0, A, 4, FULL) == NONE
    assert find(state, 0, A, 4, 0x00000FFF) == 3


def test_one_stride_of_eight_bits_that_count_words() -> None:
    assert is_regular(A, 0)
    assert is_regular(A, 1020)
    assert not any(is_regular(A, stride) for stride in (1024, 2, -4, IRREGULAR))
    assert not is_regular(A + 2, 4)


def test_the_oldest_entry_leaves_a_full_table() -> None:
    state = table((0, A, 4, FULL), (1, B, 4, FULL), size=2)
    assert find(state, 0, A, 4, FULL) == 0
    assert insert(state, 0, 2, 0, 4, FULL)
    assert registers(state) == [1, 2]


def test_a_store_deletes_the_entries_of_which_it_changes_a_byte() -> None:
    """Words of lanes 0 to 31 begin at A; those of register 2 every 8 bytes from A + 512 on."""
    entries: tuple[Entry, ...] = ((1, A, 4, FULL), (2, A + 512, 8, FULL), (3, A, 0, FULL))
    cases: list[tuple[list[int], int, list[int]]] = [
        ([A + 127], 1, [2, 3]),
        ([A + 128], 4, [1, 2, 3]),
        ([A - 4], 4, [1, 2, 3]),
        ([A - 1], 2, [2]),
        ([A + 516], 4, [1, 2, 3]),
        ([A + 515], 1, [1, 3]),
        ([A + 512 + 8 * 31], 16, [1, 3]),
        ([A + 508], 8, [1, 3]),
        ([B, A], 4, [2]),
    ]
    for addresses, size, left in cases:
        state = table(*entries)
        assert store(state, addresses, size) == 3 - len(left)
        assert registers(state) == left


def test_lanes_that_an_entry_lacks_are_not_overwritten() -> None:
    state = table((1, A, 4, 0xFFFF0000))
    assert store(state, [A + 4 * lane for lane in range(16)]) == 0
    assert store(state, [A + 64]) == 1


def test_all_entries_are_deleted_at_once() -> None:
    state = table((1, A, 4, FULL), (2, B, 4, FULL))
    assert remove_all(state, 0) == 2
    assert registers(state) == []
    assert not state.hashed[0, BUCKETS:].any()


masks = st.sampled_from((FULL, 1, 0x80000000, 0x0F0F0F0F, 0xFFFF0000))
bases = st.integers(0, 60).map(lambda word: A + 4 * word)
strides = st.sampled_from((0, 4, 8, 12, 128, 1020))
steps = st.one_of(
    st.tuples(st.just("insert"), st.integers(0, PHYSICAL - 1), bases, strides, masks),
    st.tuples(st.just("remove"), st.integers(0, PHYSICAL - 1), bases, strides, masks),
    st.tuples(st.just("store"), st.sampled_from((1, 2, 4, 8, 16)), bases, strides, masks),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=40), st.integers(1, 8))
def test_it_behaves_as_a_list_that_is_searched(done: list[tuple[str, int, int, int, int]], size: int) -> None:
    state, model = fresh(size), Searched(size)
    for what, number, base, stride, lanes in done:
        if what == "insert":
            remove(state, 0, number)
            insert(state, 0, number, base, stride, lanes)
            model.insert((number, base, stride, lanes))
        elif what == "remove":
            remove(state, 0, number)
            model.drop(number)
        else:
            written = [base + lane * stride for lane in range(32) if lanes >> lane & 1]
            assert store(state, written, number) == model.store(written, number)
        assert registers(state) == [entry[0] for entry in model.entries]
        found = find(state, 0, base, stride, lanes)
        assert (found == NONE) == (not model.has(base, stride, lanes))
        if found != NONE:
            assert found in model.has(base, stride, lanes)


class Searched:
    """The table as a list, the oldest entry first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.entries: list[Entry] = []

    def insert(self, entry: Entry) -> None:
        self.drop(entry[0])
        self.entries = [*self.entries[max(0, len(self.entries) + 1 - self.size) :], entry]

    def drop(self, register: int) -> None:
        self.entries = [entry for entry in self.entries if entry[0] != register]

    def has(self, base: int, stride: int, lanes: int) -> list[int]:
        return [r for r, b, s, held in self.entries if (b, s) == (base, stride) and not lanes & ~held]

    def store(self, addresses: Sequence[int], size: int) -> int:
        changed = {address + byte for address in addresses for byte in range(size)}
        left = [entry for entry in self.entries if changed.isdisjoint(_bytes(entry))]
        gone = len(self.entries) - len(left)
        self.entries = left
        return gone


def _bytes(entry: Entry) -> Iterator[int]:
    _, base, stride, lanes = entry
    return (base + lane * stride + byte for lane in range(32) if lanes >> lane & 1 for byte in range(4))
