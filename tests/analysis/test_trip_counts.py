"""Constant trip counts: hand-made loops, the formula against counting, and recorded paths."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, p, pair, r, when
from tests.replay.test_workloads import launches

from warpreg.analysis.counter_values import runs
from warpreg.analysis.loops import loops
from warpreg.analysis.trip_counts import static_frequencies, trips
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.types import TYPES
from warpreg.trace.path import visits as visited

BRANCH = when(p(0), op("bra", 0))


def bottom_tested(*body: Instruction, before: tuple[Instruction, ...] = (op("mov.u32", r(0), 0),)) -> Kernel:
    """Block 1 is a loop that stays while P0 holds."""
    return kernel([*before], [*body, BRANCH], [op("mov.u32", r(9), 1)], successors=((1,), (1, 2), ()))


def counts(code: Kernel) -> list[int | None]:
    return [None if trip is None else trip.count for trip in trips(code)]


def test_a_loop_that_counts_up() -> None:
    """R0 is 4, 8, 12 and 16 at the test; the fourth fails."""
    code = bottom_tested(op("add.s32", r(0), r(0), 4), op("setp.lt.s32", p(0), r(0), 16))
    assert counts(code) == [4]
    assert static_frequencies(code, unknown=8).tolist() == [1, 4, 1]


def test_a_loop_that_counts_in_two_steps() -> None:
    """R0 is 8 and 16 at the test."""
    code = bottom_tested(op("add.s32", r(0), r(0), 4), op("add.s32", r(0), r(0), 4), op("setp.lt.s32", p(0), r(0), 16))
    assert counts(code) == [2]


def test_the_test_may_come_before_the_step() -> None:
    """R0 is 0, 4, 8, 12 and 16 at the test."""
    code = bottom_tested(op("setp.lt.s32", p(0), r(0), 16), op("add.s32", r(0), r(0), 4))
    assert counts(code) == [5]


def test_a_test_at_the_top() -> None:
    """The header runs for R0 = 0, 1, 2, 3 and the body for 0, 1, 2."""
    code = kernel(
        [op("mov.u32", r(0), 0)],
        [op("setp.ge.s32", p(0), r(0), 3), BRANCH],
        [op("add.s32", r(0), r(0), 1), op("bra", 0)],
        [op("mov.u32", r(9), 1)],
        successors=((1,), (3, 2), (1,), ()),
    )
    assert counts(code) == [4]
    assert static_frequencies(code, unknown=8).tolist() == [1, 4, 3, 1]


def test_registers_derived_from_the_counter() -> None:
    """R1 = R0 - 1 = 3, 2, 1, 0 and R0 becomes R1."""
    code = bottom_tested(
        op("sub.s32", r(1), r(0), 1),
        op("setp.ne.s32", p(0), r(1), 0),
        op("mov.u32", r(0), r(1)),
        before=(op("mov.u32", r(0), 4),),
    )
    assert counts(code) == [4]


def test_a_bound_in_a_register_and_a_pair_of_registers_as_counter() -> None:
    """0, 2^33 and 2^34 at the test against 2^34 in R4, R5."""
    code = bottom_tested(
        op("setp.lt.u64", p(0), pair(0), pair(4)),
        op("add.s64", pair(0), pair(0), 1 << 33),
        before=(op("mov.u64", pair(0), 0), op("mov.u64", pair(4), 1 << 34)),
    )
    assert counts(code) == [3]


def nested(*inner_begins: Instruction) -> Kernel:
    """Block 1 begins an iteration of the outer loop, 2 is the inner loop, 3 ends the iteration."""
    return kernel(
        [op("mov.u32", r(0), 0), op("mov.u32", r(1), 0)],
        [op("add.s32", r(0), r(0), 1), *inner_begins],
        [op("add.s32", r(1), r(1), 1), op("setp.lt.s32", p(0), r(1), 5), BRANCH],
        [op("setp.lt.s32", p(0), r(0), 3), BRANCH],
        [op("mov.u32", r(9), 1)],
        successors=((1,), (2,), (2, 3), (1, 4), ()),
    )


def test_nested_loops_multiply() -> None:
    """The predicate is written in both loops, but each branch reads its own value."""
    code = nested(op("mov.u32", r(1), 0))
    assert counts(code) == [3, 5]
    assert static_frequencies(code, unknown=8).tolist() == [1, 3, 15, 3, 1]


def test_a_counter_that_is_not_set_again_has_no_constant_count() -> None:
    """The inner loop runs five times at first and once in each later iteration of the outer one."""
    code = nested()
    assert counts(code) == [3, None]
    assert static_frequencies(code, unknown=8).tolist() == [1, 3, 24, 3, 1]


STEP, TEST = op("add.s32", r(0), r(0), 4), op("setp.lt.s32", p(0), r(0), 16)


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ((STEP, op("setp.lt.s32", p(0), r(0), r(7))), None),
        ((STEP, TEST), (op("mov.u32", r(0), r(7)),)),
        ((STEP, TEST), ()),
        ((when(p(1), STEP), TEST), None),
        ((STEP, when(p(1), TEST)), (op("mov.u32", r(0), 0), op("setp.eq.s32", p(0), r(7), 0))),
        ((op("add.s32", r(0), r(0), r(7)), TEST), None),
        ((op("add.s32", r(0), r(0), 0), TEST), None),
        ((op("add.s32", r(0), r(0), -4), TEST), None),
        ((STEP, op("setp.ne.s32", p(0), r(0), 14)), None),
        ((STEP, op("setp.le.s32", p(0), r(0), (1 << 31) - 1)), None),
        ((STEP, TEST, when(p(1), op("exit"))), None),
        ((op("shl.b32", r(0), r(0), 1), TEST), (op("mov.u32", r(0), 1),)),
    ],
    ids=[
        "bound unknown", "start unknown", "no start", "step under a guard", "test under a guard",
        "step unknown", "no step", "wrong way", "stepped over", "wraps around", "lanes leave early", "doubling",
    ],
)  # fmt: skip
def test_other_loops_have_no_constant_count(
    body: tuple[Instruction, ...], before: tuple[Instruction, ...] | None
) -> None:
    code = bottom_tested(*body) if before is None else bottom_tested(*body, before=before)
    assert counts(code) == [None]


def test_a_loop_with_two_exits_has_no_constant_count() -> None:
    code = kernel(
        [op("mov.u32", r(0), 0)],
        [op("setp.eq.s32", p(0), r(7), 0), BRANCH],
        [STEP, TEST, BRANCH],
        [op("mov.u32", r(9), 1)],
        successors=((1,), (3, 2), (1, 3), ()),
    )
    assert counts(code) == [None]


RELATIONS = {
    "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__, "eq": int.__eq__, "ne": int.__ne__,
}  # fmt: skip


@given(st.sampled_from(sorted(RELATIONS)), st.integers(-40, 40), st.integers(-9, 9), st.integers(-40, 40))
def test_the_formula_counts_what_counting_counts(relation: str, first: int, step: int, bound: int) -> None:
    """Loops of more than 100 iterations here never end without wrapping around."""
    counted = next((n for n in range(100) if not RELATIONS[relation](first + n * step, bound)), None)
    assert runs(relation, first, step, bound, TYPES["s32"]) == (None if counted is None else counted + 1)


def test_numbers_are_taken_in_the_type_of_the_comparison() -> None:
    assert runs("gt", 3, -1, 0, TYPES["u32"]) == 4
    assert runs("gt", -1, -1, 0, TYPES["s32"]) == 1
    assert runs("gt", -1, -(1 << 31), 0, TYPES["u32"]) is None  # 2^32 - 1, 2^31 - 1, then below zero
    assert runs("lt", 0, 1, -1, TYPES["u32"]) == 1 << 32


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("image-blur", [9]), ("alexnet", [11, 3])])
def test_recorded_paths_run_as_often_as_proved(name: str, expected: list[int]) -> None:
    """Every warp enters the loops once, with all iterations, so the frequencies are those of each warp."""
    launch = launches(name, at_most=1)[0]
    assert counts(launch.kernel) == expected
    assert launch.trace is not None
    words = np.concatenate(list(launch.trace.path_chunks()))
    visits = Counter(visit.block for visit in visited([words]))
    header = loops(launch.kernel).loops[0].header
    expected_visits = static_frequencies(launch.kernel, unknown=1)
    entries = visits[header] / expected_visits[header]
    assert {b: entries * expected_visits[b] for loop in loops(launch.kernel).loops for b in loop.blocks} == {
        b: visits[b] for loop in loops(launch.kernel).loops for b in loop.blocks
    }
