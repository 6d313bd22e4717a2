"""Renaming in the form that hooks compile, against the model, and under reads that come late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.renaming.model import Model, Place, Result, Side, Source

from warpreg.designs.parts.affinity.alignment import ANY_SIDE, LEFT, RIGHT
from warpreg.designs.parts.affinity.pairs import NO_BUDDY
from warpreg.designs.parts.renaming.free_map import (
    HELD,
    RIGHTMOST,
    all_free,
    first_end,
    first_position,
    fitting_ends,
    fitting_sizes,
    give,
    take,
)
from warpreg.designs.parts.renaming.policies import beside_buddy, default_fit, first_fit, hold_for_buddy, to_its_side
from warpreg.designs.parts.renaming.slices import FULL, longest_run, lowest_slices, shrunk, size_of, slice_table
from warpreg.designs.parts.renaming.table import (
    UNMAPPED,
    collect_source,
    empty_table,
    end_warp,
    issue_source,
    kill,
    mask_of,
    no_places,
    place,
    position_of,
    release,
    shrink,
    stays,
)

WARPS, REGISTERS = 4, 6
BUDDY = {0: 1, 1: 0, 2: 3, 3: 2}
SIDE: dict[int, Side] = {0: "left", 1: "right", 2: "left", 3: "right"}


class State(NamedTuple):
    """The fields of `free_map` and `table`, for one SM."""

    resident: Any
    has_sides: bool
    own_first: bool
    lowest: Any
    kept_left: Any
    kept_right: Any
    fitting: Any
    free: Any
    fitting_sides: Any
    fits: Any
    sides: Any
    some: Any
    in_use: Any
    table: Any
    pending: Any
    dying: Any
    superseded: Any
    marks: Any
    next_place: Any
    place_mask: Any
    places: Any


def fresh(physical: int, spare: int = 0, adjacent: bool = True, own_first: bool = False) -> State:
    of_sm = {name: row[np.newaxis].copy() for name, row in (all_free(physical) | no_places(physical)).items()}
    of_warp = {name: np.repeat(row[np.newaxis], WARPS, axis=0) for name, row in empty_table(REGISTERS).items()}
    return State(
        resident=np.array([[physical - spare]]),
        has_sides=True,
        own_first=own_first,
        lowest=slice_table(lowest_slices, adjacent),
        kept_left=slice_table(shrunk, True),
        kept_right=slice_table(shrunk, False),
        fitting=fitting_sizes(adjacent),
        fitting_sides=fitting_ends(),
        **of_sm,
        **of_warp,
    )


def check(state: State) -> None:
    """No two live values share a slice; the free map has the other slices; every row of the search is right."""
    used = np.zeros(state.free.shape[1], np.int64)
    entries = [int(entry) for entry in state.table.flat if entry != UNMAPPED]
    for at in [*state.superseded.flat]:
        while at >= 0:
            entries.append(int(at) // 4 << 4 | int(state.place_mask[0, at]))
            at = state.next_place[0, at]
    for entry in entries:
        assert mask_of(entry)
        assert not used[position_of(entry)] & mask_of(entry)
        used[position_of(entry)] |= mask_of(entry)
    assert ((state.free[0] & FULL) == (FULL & ~used)).all()
    assert state.in_use[0, 0] == np.count_nonzero(used)
    for position, free in enumerate(state.free[0]):
        assert int(state.fits[0, position // 16]) >> position % 16 * 4 & 0xF == state.fitting[free]
        assert int(state.sides[0, position // 8]) >> position % 8 * 8 & 0x3F == state.fitting_sides[free]
        for size in range(1, 5):
            known = int(state.some[0, size - 1, position // 512]) >> position // 16 % 32 & 1
            assert known or not state.fitting[free] >> size - 1 & 1


def placed(state: State) -> dict[tuple[int, int], Place]:
    return {
        (warp, register): (int(entry) >> 4, frozenset(i for i in range(4) if int(entry) >> i & 1))
        for (warp, register), entry in np.ndenumerate(state.table)
        if entry != UNMAPPED
    }


Choose = Callable[[State, int, int, int], int]


def by_first_fit(state: State, warp: int, register: int, size: int) -> int:
    return first_fit(state, 0, size, 0, state.free.shape[1])


def by_own_first_fit(state: State, warp: int, register: int, size: int) -> int:
    return default_fit(state, 0, warp, size)


def of_any_slices(state: State, warp: int, register: int, size: int) -> int:
    return first_fit(state, 0, size, 0, state.free.shape[1])


def by_pairs(state: State, warp: int, register: int, size: int) -> int:
    return beside_buddy(state, 0, warp, warp, BUDDY.get(register, NO_BUDDY), size)


def by_sides(state: State, warp: int, register: int, size: int) -> int:
    """Two banks."""
    side = {"left": LEFT, "right": RIGHT, "": ANY_SIDE}[SIDE.get(register, "")]
    rows = state.free.shape[1] // 2
    return to_its_side(state, 0, side, size, warp % 2 * rows, (warp % 2 + 1) * rows)


POLICIES: dict[str, tuple[Choose, dict[str, Any]]] = {
    "first fit": (by_first_fit, {}),
    "any slices": (of_any_slices, {"adjacent": False}),
    "own first": (by_own_first_fit, {"own": REGISTERS}),
    "pairs": (by_pairs, {"buddy": BUDDY}),
    "pairs, own first": (by_pairs, {"buddy": BUDDY, "own": REGISTERS}),
    "sides": (by_sides, {"dual": True, "warp_banks": True, "banks": 2, "side": SIDE}),
}


def write(state: State, choose: Choose, warp: int, register: int, size: int, partial: bool = False) -> None:
    """What the hook of a design does with a result."""
    left = choose is by_sides and SIDE.get(register) == "left"
    if stays(state, 0, warp, register, size):
        if not (left and partial):
            shrink(state, 0, warp, register, size, left)
        state.dying[warp, register] = 0
        return
    entry = choose(state, warp, register, size)
    if entry == UNMAPPED:
        release(state, 0, warp, register)
        entry = choose(state, warp, register, size)
    place(state, 0, warp, register, entry)
    if choose is by_pairs and register in BUDDY:
        hold_for_buddy(state, 0, warp, register, BUDDY[register])


steps = st.lists(
    st.tuples(
        st.integers(0, WARPS - 1), st.integers(0, REGISTERS - 1), st.integers(-1, 4), st.booleans(), st.integers(0, 19)
    ),
    max_size=60,
)
"""Warp, register, bytes (0: a last read, -1: the warp ends), partial, and a number to choose by."""


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("physical", [24, 70])
@settings(max_examples=60, deadline=None)
@given(steps)
def test_renaming_is_that_of_the_model(
    policy: str, physical: int, chosen: list[tuple[int, int, int, bool, int]]
) -> None:
    """24 physical registers are one for each register of the warps, the least that always suffices."""
    choose, options = POLICIES[policy]
    model = Model(physical, frees=True, **options)
    state = fresh(physical, adjacent=policy != "any slices", own_first="own" in options)
    for warp, register, size, partial, _ in chosen:
        if size > 0:
            model.run(warp, [], [Result(register, size, partial)])
            write(state, choose, warp, register, size, partial)
        elif size == 0:
            model.run(warp, [Source(register, last=True)], [])
            issue_source(state, warp, register, True)
            collect_source(state, 0, warp, register)
        else:
            model.end(warp)
            end_warp(state, 0, warp)
        assert placed(state) == model.place
        assert {int(p) for p in np.flatnonzero(state.free[0] & HELD)} == set(model.held)
        assert state.in_use[0, 0] == model.in_use()
        check(state)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=100, deadline=None)
@given(steps)
def test_late_reads_see_the_value_that_was_there_when_they_issued(
    policy: str, chosen: list[tuple[int, int, int, bool, int]]
) -> None:
    """Sources are collected in any order, after other results of the warp.  A slice remembers who wrote it."""
    choose, options = POLICIES[policy]
    adjacent, own_first = policy != "any slices", "own" in options
    state = fresh(WARPS * REGISTERS + 60, 60, adjacent, own_first)
    holder: dict[tuple[int, int], int] = {}
    value: dict[tuple[int, int], int] = {}
    waiting: list[tuple[int, int, int, int]] = []

    def collect(index: int) -> None:
        warp, register, entry, expected = waiting.pop(index)
        for one in range(4):
            if entry >> one & 1:
                assert holder[entry >> 4, one] == expected
        collect_source(state, 0, warp, register)

    for number, (warp, register, size, is_last, choice) in enumerate(chosen):
        if size > 0:
            write(state, choose, warp, register, size)
            entry = int(state.table[warp, register])
            value[warp, register] = number
            for one in range(4):
                if entry >> one & 1:
                    holder[entry >> 4, one] = number
        elif (warp, register) in value and state.table[warp, register] != UNMAPPED:
            if not state.dying[warp, register]:
                entry = int(state.table[warp, register])
                waiting.append((warp, register, entry, value[warp, register]))
                issue_source(state, warp, register, is_last)
        elif size < 0 and register < 2:
            kill(state, 0, warp, register)
        if waiting and choice < 8:
            collect(choice % len(waiting))
        check(state)
    while waiting:
        collect(0)
    for warp in range(WARPS):
        end_warp(state, 0, warp)
    check(state)
    assert (state.free == FULL).all()
    assert not state.places.any()


@pytest.mark.parametrize(("own_first", "expected"), [(False, [0, 0, 0, 1]), (True, [6, 6, 6, 7])])
def test_first_fit_begins_at_the_first_register_or_at_those_of_the_slot(own_first: bool, expected: list[int]) -> None:
    """Slot 1 of warps with 6 registers has physical registers 6 to 11.  Values of 1, 1 and 2 bytes share one, the
    fourth takes the next.
    """
    state = fresh(24, own_first=own_first)
    for register, size in enumerate((1, 1, 2, 4)):
        write(state, by_own_first_fit, 1, register, size)
    assert [position_of(int(entry)) for entry in state.table[1, :4]] == expected


def test_a_warp_without_room_of_its_own_takes_the_first_of_the_sm() -> None:
    """Slot 3 would have registers 18 to 23 of 20.  Slot 0 has 0 to 5: as these are taken, it goes
    to 6, the first of slot 1; slot 2 still has its own.
    """
    state = fresh(20, own_first=True)
    assert position_of(default_fit(state, 0, 3, 4)) == 0
    for position in range(6):
        take(state, 0, position, FULL)
    assert position_of(default_fit(state, 0, 0, 4)) == 6
    assert position_of(default_fit(state, 0, 1, 4)) == 6
    assert position_of(default_fit(state, 0, 2, 4)) == 12


def test_without_spare_registers_a_result_is_written_in_place() -> None:
    """As in a plain register file; with one spare register the first such result moves and the second does not."""
    for spare, expected in ((0, [0, 0]), (1, [1, 1])):
        state = fresh(8, spare)
        write(state, by_first_fit, 0, 0, 4)
        issue_source(state, 0, 0, False)
        found = []
        for _ in range(2):
            write(state, by_first_fit, 0, 0, 4)
            found.append(position_of(int(state.table[0, 0])))
        assert found == expected
        collect_source(state, 0, 0, 0)
        assert state.in_use[0, 0] == 1


def test_a_dead_register_is_released_when_its_pending_sources_have_been_read() -> None:
    state = fresh(8)
    write(state, by_first_fit, 0, 0, 4)
    issue_source(state, 0, 0, False)
    issue_source(state, 0, 0, True)
    assert not collect_source(state, 0, 0, 0)
    assert state.in_use[0, 0] == 1
    assert collect_source(state, 0, 0, 0)
    assert state.in_use[0, 0] == 0


@given(st.integers(0, 15), st.integers(1, 4), st.booleans())
def test_masks(mask: int, size: int, left: bool) -> None:
    slices = [i for i in range(4) if mask >> i & 1]
    assert size_of(mask) == len(slices)
    assert longest_run(mask) == max(map(len, format(mask, "04b").split("0")))
    if size <= len(slices):
        kept = slices[-size:] if left else slices[:size]
        assert shrunk(mask, size, left) == sum(1 << i for i in kept)
        assert lowest_slices(mask, size, False) == sum(1 << i for i in slices[:size])


@given(st.sets(st.integers(0, 99)), st.integers(0, 99), st.integers(1, 100))
def test_the_first_position_in_a_range(taken: set[int], begin: int, count: int) -> None:
    state = fresh(100)
    for position in taken:
        take(state, 0, position, 1)
    end = min(100, begin + count)
    expected = next((p for p in range(begin, end) if p not in taken), -1)
    assert first_position(state, 0, 4, begin, end) == first_end(state, 0, RIGHTMOST, begin, end) == expected
    for position in taken:
        give(state, 0, position, 1)
    assert first_position(state, 0, 4, begin, end) == first_end(state, 0, RIGHTMOST, begin, end) == begin
