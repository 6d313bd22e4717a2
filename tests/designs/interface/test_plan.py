"""Effects of the plan functions: counts, and the details that a timing core reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from piecewise_numba.options import OPTIONS
from piecewise_numba.rebuild import rebuild
from warpreg.designs.interface import (
    MRF,
    READ,
    WRITE,
    Plan,
    change,
    count,
    extra,
    is_served,
    is_timed,
    level,
    move,
    now,
    nowhere,
    read,
    wake,
    write,
)
from warpreg.designs.interface.plan import (
    ALONE,
    ELSEWHERE,
    EXTRAS,
    FIRST_OPERAND,
    FIRST_READS,
    GRANTED,
    IN_BANKS,
    INTEGRAL,
    LATER,
    LEVEL,
    MERGED,
    REFUSED,
    SLICES,
    VALUE,
    WOKEN,
    blank_plan,
)

CACHE = 1


def new_plan(detailed: int = 1, turn: int = ALONE, first_level: int = 0, cycle: int = 7) -> Plan:
    """A plan for operands 10 to 12 and results 20 and 21 of a design with one level beside the MRF."""
    blank = blank_plan(levels=3, events=2, sources=3, results=2, queue=2, sms=1, resources=1)
    blank = blank._replace(slices=4, cycle=cycle, detailed=detailed, turn=turn, first_level=first_level)
    return blank._replace(mask=0xFFFFFFFF, warp=5, first_source=10, first_result=20)


def accesses(plan: Plan) -> list[list[int]]:
    """Reads and writes of each level."""
    found: list[list[int]] = plan.accesses.reshape(3, 2, 2).sum(axis=2).tolist()
    return found


def test_a_read_says_where_when_and_what() -> None:
    plan = new_plan()
    read(plan, 11, MRF, bank=3, cycles=2, slices=0b0011, row=9)
    assert plan.sources[1].tolist() == [MRF, 3, 2, -1, 0b0011, 9, 0b0011]
    assert accesses(plan) == [[1, 0], [0, 0], [0, 0]]


def test_a_merged_operand_arrives_with_another_and_costs_nothing() -> None:
    plan = new_plan()
    read(plan, 10, MRF)
    read(plan, 12, MRF, merged=10)
    assert plan.sources[2, MERGED] == 0
    assert accesses(plan)[MRF] == [1, 0]


def test_an_operand_cannot_arrive_with_one_of_another_level() -> None:
    plan = new_plan()
    read(plan, 10, CACHE)
    read(plan, 12, MRF, merged=10)
    assert plan.sources[2, MERGED] == -1
    assert accesses(plan) == [[1, 0], [1, 0], [0, 0]]


def test_a_result_may_go_to_the_banks_and_elsewhere() -> None:
    plan = new_plan()
    write(plan, 20, CACHE)
    write(plan, 20, MRF, slices=0b1)
    assert plan.results[0, ELSEWHERE, LEVEL] == CACHE
    assert plan.results[0, IN_BANKS].tolist() == [MRF, -1, -1, -1, 0b1, -1, -1]
    assert accesses(plan) == [[0, 1], [0, 1], [0, 0]]


def test_another_level_asks_for_a_bank_only_if_one_is_named() -> None:
    plan = new_plan()
    write(plan, 21, CACHE, bank=2)
    assert plan.results[1, :, LEVEL].tolist() == [CACHE, -1]


def test_moves_and_extra_accesses_of_the_mrf_queue_for_its_banks() -> None:
    plan = new_plan()
    move(plan, CACHE, MRF, register=4)
    extra(plan, MRF, READ, register=6, warp=9, slices=0b10)
    assert plan.extras.tolist() == [[WRITE, 5, 4, -1], [READ, 9, 6, -1]]
    assert (plan.moves[CACHE, MRF], accesses(plan)[MRF]) == (1, [1, 0])
    extra(plan, CACHE, WRITE, register=6)
    move(plan, CACHE, MRF)
    assert plan.queued[EXTRAS] == 2


def test_what_does_not_fit_the_queue_is_counted_so_that_the_core_can_refuse() -> None:
    plan = new_plan()
    for register in range(3):
        move(plan, CACHE, MRF, register)
        wake(plan, register)
    assert plan.queued.tolist()[:2] == [3, 3]
    assert plan.woken.tolist() == [0, 1]


def test_a_level_is_summed_over_the_cycles_that_it_lasted() -> None:
    """3 from cycle 7 to 10, then 1 until 20: 9 + 10."""
    plan = new_plan()
    level(plan, 0, 3)
    level(plan._replace(cycle=10), 0, 1)
    level(plan._replace(cycle=20), 0, 0)
    assert (plan.levels[0, 0, INTEGRAL], plan.levels[0, 0, VALUE]) == (9 + 10, 0)
    assert now(plan._replace(cycle=20)) == 20
    assert not is_timed(plan._replace(detailed=0))
    assert is_timed(plan._replace(detailed=1))


def test_a_level_may_change_by_an_amount() -> None:
    """3 from cycle 7 to 10, then 5 until 20: 9 + 50."""
    plan = new_plan()
    level(plan, 0, 3)
    change(plan._replace(cycle=10), 0, 2)
    change(plan._replace(cycle=20), 0, -5)
    assert (plan.levels[0, 0, INTEGRAL], plan.levels[0, 0, VALUE]) == (9 + 50, 0)


def test_a_replay_keeps_counts_alone() -> None:
    plan = new_plan(detailed=0)._replace(slices=1)
    read(plan, 11, MRF, bank=3)
    write(plan, 20, CACHE)
    move(plan, CACHE, MRF, register=4)
    wake(plan, 1)
    level(plan, 0, 3)
    count(plan, 1)
    assert accesses(plan) == [[1, 0], [0, 1], [0, 0]]
    assert (plan.events.tolist(), plan.moves[CACHE, MRF]) == ([0, 1], 1)
    assert plan.sources.max() == plan.results.max() == -1
    assert not plan.queued.any()
    assert not plan.levels.any()


def test_a_second_design_places_what_the_first_leaves_to_the_register_file() -> None:
    """The first one serves operand 10 from its cache, 11 from the MRF, and writes 20 to the cache only, 21 to both."""
    first = new_plan()
    read(first, 10, CACHE)
    read(first, 11, MRF)
    write(first, 20, CACHE)
    write(first, 21, CACHE)
    write(first, 21, MRF)
    second = first._replace(turn=LATER)
    for operand in (10, 11):
        read(second, operand, MRF, bank=4, cycles=2)
    for operand in (20, 21):
        write(second, operand, MRF, bank=6, slices=0b11)
    assert accesses(first) == [[1, 1], [1, 2], [0, 0]]
    assert first.sources[:2].tolist() == [[CACHE, *[-1] * 6], [MRF, 4, 2, -1, -1, -1, -1]]
    assert first.results[:, IN_BANKS].tolist() == [[-1] * 7, [MRF, 6, -1, -1, 0b11, -1, -1]]


def test_a_later_design_asks_what_comes_to_the_register_file() -> None:
    """Operand 10 is served by the first one's cache, 11 comes to the MRF, 12 is accessed nowhere."""
    first = new_plan(turn=FIRST_READS)
    read(first, 10, CACHE)
    read(first, 11, MRF)
    first.planned[FIRST_OPERAND] = 10
    nowhere(first, 12)
    assert [is_served(first._replace(turn=LATER), operand) for operand in (10, 11, 12)] == [True, False, True]
    assert not is_served(first, 10)


def test_a_second_designs_levels_follow_the_firsts() -> None:
    first = new_plan()
    read(first, 11, MRF)
    read(first._replace(turn=LATER, first_level=1), 11, 1, bank=2)
    assert first.sources[1, LEVEL] == 2
    assert accesses(first) == [[0, 0], [0, 0], [1, 0]]


def test_a_merge_with_an_operand_that_another_level_serves_falls_apart() -> None:
    """The cache has operand 10, so 12, which a mapping would read together with it, is a read of its own."""
    first = new_plan()
    read(first, 10, CACHE)
    read(first, 12, MRF)
    second = first._replace(turn=LATER)
    read(second, 10, MRF)
    read(second, 12, MRF, merged=10)
    assert accesses(first) == [[1, 0], [1, 0], [0, 0]]
    assert first.sources[2, SLICES] == first.sources[2, MERGED] == -1


def spared(plan: Plan) -> list[list[int]]:
    """Slices that reads and writes of each level left out, of four in each access."""
    found: list[list[int]] = plan.spared.reshape(3, 2, 2).sum(axis=2).tolist()
    return found


def test_an_access_of_slices_leaves_the_others_out() -> None:
    plan = new_plan(detailed=0)
    read(plan, 10, MRF, slices=0b0011)
    read(plan, 11, CACHE, slices=0b0111)
    write(plan, 20, MRF, slices=0b0001)
    extra(plan, MRF, READ, 3, slices=0b1110)
    read(plan, 12, MRF)
    assert spared(plan) == [[2 + 1, 3], [1, 0], [0, 0]]


def test_a_merged_operand_adds_the_slices_that_the_others_leave_out() -> None:
    """12 reads slice 2 besides, of which 11 then only slice 3 is new."""
    plan = new_plan(detailed=0)
    read(plan, 10, MRF, slices=0b0011)
    read(plan, 12, MRF, merged=10, slices=0b0110)
    read(plan, 11, MRF, merged=10, slices=0b1100)
    assert (accesses(plan)[MRF], spared(plan)[MRF]) == ([1, 0], [0, 0])
    assert plan.sources[:, GRANTED].tolist() == [0b1111, 0b1000, 0b0100]


def test_a_second_design_takes_back_the_slices_of_the_first() -> None:
    """The first merges 11 with 10; the second reads both alone, one of them whole."""
    first = new_plan()
    read(first, 10, MRF, slices=0b0011)
    read(first, 11, MRF, merged=10, slices=0b0100)
    write(first, 20, MRF, slices=0b0001)
    second = first._replace(turn=LATER)
    read(second, 10, MRF, slices=0b0001)
    read(second, 11, MRF, slices=0b1111)
    write(second, 20, MRF, slices=0b0111)
    assert (accesses(first)[MRF], spared(first)[MRF]) == ([2, 1], [3, 1])


@pytest.mark.parametrize("slices", [0, 0b10000, -2])
def test_slices_that_a_bank_does_not_have_are_noted(slices: int) -> None:
    plan, other = new_plan(), new_plan()
    read(plan, 10, MRF, slices=slices)
    extra(other, MRF, READ, 1, slices=slices)
    assert plan.queued[REFUSED] == other.queued[REFUSED] != 0


def everything(plan: Plan) -> int:
    read(plan, 10, MRF, bank=3, slices=6)
    read(plan, 11, MRF, merged=10, slices=1)
    read(plan, 12, CACHE, cycles=2, slices=2)
    write(plan, 20, CACHE)
    write(plan, 21, MRF, slices=3)
    move(plan, CACHE, MRF, register=4)
    extra(plan, MRF, READ, 6, bank=1)
    wake(plan, 8)
    level(plan, 0, 2)
    count(plan, 0, 3)
    return now(plan)


@pytest.mark.slow
def test_compiled_and_interpreted_they_do_the_same() -> None:
    njit: Any = numba.njit
    hook: Any = everything
    compiled: Callable[[Plan], Any] = rebuild({"hook": hook}, njit(**OPTIONS))["hook"]
    for detailed in (0, 1):
        plain, native = new_plan(detailed), new_plan(detailed)
        assert everything(plain) == compiled(native) == 7
        for name, before, after in zip(Plan._fields, plain, native, strict=True):
            assert np.array_equal(np.asarray(before), np.asarray(after)), name
        assert plain.queued[WOKEN] == detailed
