"""Renaming with counted references, and loads that wait for others (thesis of 2021, §5.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.load_sharing.state import FULL, PHYSICAL, REGISTERS, WARPS, fresh

from warpreg.designs.parts.load_sharing import registers
from warpreg.designs.parts.load_sharing.address_table import find, insert
from warpreg.designs.parts.load_sharing.columns import (
    FORMER,
    LINKS_LEFT,
    MAPPED,
    MOST,
    NEXT_FORMER,
    NONE,
    PENDING,
    PLACE,
    REFERENCES,
    SUPERSEDED,
    TAKEN,
    UNDER_WAY,
)
from warpreg.designs.parts.load_sharing.registers import (
    assign,
    bank_of,
    drop,
    end_sources,
    end_warp,
    issue_source,
    release,
    take,
    unassign,
)
from warpreg.designs.parts.load_sharing.waiting import (
    LOAD,
    MISSING,
    add_part,
    begin_wait,
    can_wait,
    end_wait,
    next_complete,
    next_read,
)

A = 0x10000000


def collect_source(state: Any, sm: int, warp: int, register: int) -> bool:
    """The collector has read a source; returns whether the register's value was released as dead."""
    return registers.collect_source(state, warp, register) and end_sources(state, sm, warp, register)


@pytest.fixture
def state() -> Any:
    return fresh()


def loaded(state: Any, warp: int = 0, register: int = 0, base: int = A) -> int:
    """A register has loaded words of memory; returns its physical register."""
    physical = take(state, 0)
    assign(state, 0, warp, register, physical)
    insert(state, 0, physical, base, 4, FULL)
    return physical


def share(state: Any, physical: int, warp: int, register: int) -> None:
    state.physical[0, physical, REFERENCES] += 1
    assign(state, 0, warp, register, physical)


@pytest.mark.parametrize("banks", [1, 4, 6])
def test_registers_go_round_the_banks(state: Any, banks: int) -> None:
    found = state._replace(banks=banks)
    assert [bank_of(found, physical) for physical in range(14)] == [physical % banks for physical in range(14)]


def test_the_lowest_free_register_is_taken(state: Any) -> None:
    assert [take(state, 0) for _ in range(34)] == list(range(34))
    drop(state, 0, 3)
    drop(state, 0, 32)
    assert [take(state, 0) for _ in range(2)] == [3, 32]


def test_there_is_none_when_all_are_taken(state: Any) -> None:
    assert [take(state, 0) for _ in range(PHYSICAL + 1)][-1] == NONE
    assert state.own[0, [TAKEN, MAPPED, MOST]].tolist() == [PHYSICAL, 0, PHYSICAL]


def test_a_register_is_free_with_the_last_register_that_maps_to_it(state: Any) -> None:
    """And its entry is deleted then (§5.5.2)."""
    physical = loaded(state)
    share(state, physical, 1, 4)
    assert state.own[0, [TAKEN, MAPPED, MOST]].tolist() == [1, 2, 1]
    unassign(state, 0, 0, 0)
    assert find(state, 0, A, 4, FULL) == physical
    unassign(state, 0, 1, 4)
    assert find(state, 0, A, 4, FULL) == NONE
    assert state.own[0, [TAKEN, MAPPED]].tolist() == [0, 0]


def test_a_pending_source_keeps_what_it_reads(state: Any) -> None:
    """The register is written anew before the collector has read two sources of the old value."""
    old = loaded(state)
    issue_source(state, 0, 0, False)
    issue_source(state, 0, 0, False)
    new = take(state, 0)
    assign(state, 0, 0, 0, new)
    assert state.physical[0, old, REFERENCES] == 1
    assert not collect_source(state, 0, 0, 0)
    assert state.physical[0, old, REFERENCES] == 1
    assert not collect_source(state, 0, 0, 0)
    assert state.physical[0, old, REFERENCES] == 0
    assert state.registers[0, 0, PLACE] == new


def test_a_dead_value_goes_when_its_last_source_is_read(state: Any) -> None:
    physical = loaded(state)
    issue_source(state, 0, 0, True)
    assert not release(state, 0, 0, 0)
    assert collect_source(state, 0, 0, 0)
    assert state.physical[0, physical, REFERENCES] == 0


def test_a_value_that_is_dead_goes_at_once(state: Any) -> None:
    loaded(state)
    assert release(state, 0, 0, 0)
    assert not release(state, 0, 0, 0)


def test_a_warp_that_ends_leaves_what_others_share(state: Any) -> None:
    physical = loaded(state)
    share(state, physical, 1, 2)
    loaded(state, register=1, base=A + 128)
    end_warp(state, 0, 0)
    assert state.own[0, [TAKEN, MAPPED]].tolist() == [1, 1]
    assert find(state, 0, A, 4, FULL) == physical


actions = st.tuples(
    st.sampled_from(("write", "share", "issue", "last", "collect", "release")),
    st.integers(0, WARPS - 1),
    st.integers(0, REGISTERS - 1),
    st.integers(0, PHYSICAL - 1),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(actions, max_size=60))
def test_references_are_what_refers(done: list[tuple[str, int, int, int]]) -> None:
    state = fresh()
    for what, warp, register, physical in done:
        if what == "write":
            found = take(state, 0)
            if found != NONE:
                assign(state, 0, warp, register, found)
        elif (
            what == "share"
            and state.physical[0, physical, REFERENCES]
            and (state.registers[:, :, PLACE] == physical).any()
        ):
            share(state, physical, warp, register)
        elif what in ("issue", "last"):
            issue_source(state, warp, register, what == "last")
        elif what == "collect" and state.registers[warp, register, PENDING]:
            collect_source(state, 0, warp, register)
        elif what == "release":
            release(state, 0, warp, register)
        check(state)
    for warp, register in np.ndindex(WARPS, REGISTERS):
        while state.registers[warp, register, PENDING]:
            collect_source(state, 0, warp, register)
    for warp in range(WARPS):
        end_warp(state, 0, warp)
    assert state.own[0, [TAKEN, MAPPED]].tolist() == [0, 0]
    check(state)


def check(state: Any) -> None:
    """Each reference is a register that maps or a superseded place; what nothing refers to is free."""
    references = np.zeros(PHYSICAL, np.int64)
    for physical in state.registers[:, :, PLACE].flat:
        references[physical] += physical != NONE
    for head in state.registers[:, :, SUPERSEDED].flat:
        node = head
        while node != NONE:
            references[state.physical[0, node, FORMER]] += 1
            node = state.physical[0, node, NEXT_FORMER]
    assert references.tolist() == state.physical[0, :, REFERENCES].tolist()
    free = [int(state.free[0, one >> 5]) >> (one & 31) & 1 for one in range(PHYSICAL)]
    assert free == [int(count == 0) for count in references]
    assert state.own[0, TAKEN] == PHYSICAL - sum(free)
    assert state.own[0, MAPPED] == (state.registers[:, :, PLACE] != NONE).sum()


def complete(state: Any, physical: int) -> dict[int, list[int]]:
    """The data of a register arrive: the loads that are complete, with what they read."""
    found: dict[int, list[int]] = {}
    state.physical[0, physical, UNDER_WAY] = 0
    while (wait := next_complete(state, 0, physical)) != NONE:
        reads = found.setdefault(int(state.waits[0, wait, LOAD]), [])
        while (part := next_read(state, 0, wait)) != NONE:
            reads.append(part)
        end_wait(state, 0, wait)
    return found


def waits(state: Any, load: int, *parts: int, reads: bool = True) -> int:
    wait = begin_wait(state, 0, load)
    for part in parts:
        add_part(state, 0, wait, part, reads)
    return int(state.waits[0, wait, MISSING])


def test_a_load_waits_for_all_registers_under_way(state: Any) -> None:
    here, first, second = (loaded(state, register=i, base=A + 128 * i) for i in range(3))
    state.physical[0, [first, second], UNDER_WAY] = 1
    assert waits(state, 70, here, first) == 1
    assert waits(state, 71, first, second) == 2
    assert waits(state, 72, first, reads=False) == 1
    assert complete(state, first) == {72: [], 70: [first, here]}
    assert complete(state, second) == {71: [second, first]}
    assert state.own[0, LINKS_LEFT] == 2 * PHYSICAL


def test_what_a_waiting_load_reads_is_not_given_away(state: Any) -> None:
    here, late = loaded(state), loaded(state, register=1, base=A + 128)
    state.physical[0, late, UNDER_WAY] = 1
    waits(state, 70, here, late)
    unassign(state, 0, 0, 0)
    assert find(state, 0, A, 4, FULL) == here
    assert complete(state, late) == {70: [late, here]}
    assert state.physical[0, here, REFERENCES] == 0


def test_rows_for_waiting_loads_are_used_again(state: Any) -> None:
    late = loaded(state)
    for load in range(3 * PHYSICAL):
        state.physical[0, late, UNDER_WAY] = 1
        waits(state, load, late, late)
        complete(state, late)
    state.physical[0, late, UNDER_WAY] = 1
    for load in range(PHYSICAL):
        assert can_wait(state, 0, 2)
        waits(state, load, late, late)
    assert not can_wait(state, 0, 1)
