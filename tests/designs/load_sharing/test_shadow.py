"""Shadow memory with versions: what a shared value may be (thesis of 2021, §5.5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.designs.load_sharing.state import fresh

from warpreg.designs.parts.load_sharing import shadow
from warpreg.designs.parts.load_sharing.shadow import (
    ADDRESS,
    FRESH,
    KIND,
    ORDERED,
    OWN,
    PC,
    UNORDERED,
    compare_word,
    keep_words,
    note_fault,
    observe,
    publish,
    store_words,
)

A = 0x7F0010000000
PLACE, LANE = 5, 3


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(shadow, "WORDS", 64)
    return fresh(versioned=True, sms=2)


def store(state: Any, sm: int, address: int, size: int, cycle: int) -> int:
    return store_words(state, sm, np.array([address]), 1, size, cycle)


def compared(state: Any, address: int = A) -> int:
    return compare_word(state, 0, PLACE, LANE, address)


def test_a_word_that_nothing_stores_stays_fresh(state: Any) -> None:
    keep_words(state, 0, PLACE, A - 4 * LANE, 4, 1 << LANE)
    store(state, 0, A + 4, 4, 7)
    assert compared(state) == FRESH


@pytest.mark.parametrize(("address", "size"), [(A, 4), (A + 3, 1), (A - 4, 8), (A - 2, 4)])
def test_a_store_of_a_byte_of_it_makes_it_stale(state: Any, address: int, size: int) -> None:
    keep_words(state, 0, PLACE, A - 4 * LANE, 4, 1 << LANE)
    store(state, 0, address, size, 7)
    assert compared(state) == OWN
    keep_words(state, 0, PLACE, A - 4 * LANE, 4, 1 << LANE)
    assert compared(state) == FRESH


def test_what_another_sm_stores_is_a_fault_only_if_it_is_ordered(state: Any) -> None:
    """Neither a fence of one side, nor one before the store, orders it before what this SM does."""
    keep_words(state, 0, PLACE, A - 4 * LANE, 4, 1 << LANE)
    publish(state, 1, 5)
    store(state, 1, A, 4, 7)
    observe(state, 0)
    assert compared(state) == UNORDERED
    publish(state, 1, 9)
    assert compared(state) == UNORDERED
    observe(state, 0)
    assert compared(state) == ORDERED


def test_the_first_fault_is_kept(state: Any) -> None:
    note_fault(state, UNORDERED, 1, 2, A)
    assert state.faults[KIND] == FRESH
    note_fault(state, OWN, 1, 3, A)
    note_fault(state, ORDERED, 1, 4, A + 4)
    assert (state.faults[KIND], state.faults[PC], state.faults[ADDRESS]) == (OWN, 3, A)


def test_more_words_than_it_follows_are_said(state: Any) -> None:
    """Half of its rows stay free."""
    assert [store(state, 0, A + 4 * word, 4, 0) for word in range(33)] == [0] * 32 + [1]
    assert store(state, 0, A, 4, 0) == 0
