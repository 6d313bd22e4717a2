"""Live ranges as sets of points, against Python's sets; and their loss of the past during allocation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.codegen.random_code import LOGIC, SUMS, TESTS
from tests.codegen.random_code import text as random_text
from tests.codegen.texts import kernel, listing

from warpreg import ptx
from warpreg.analysis.accesses import accesses, bit_set, members
from warpreg.codegen import CompileOptions, target, translate
from warpreg.codegen.regalloc import first_fit
from warpreg.codegen.regalloc.live_ranges import Range, live_ranges, span, union

points = st.sets(st.integers(0, 90), min_size=1)


def ranged(chosen: set[int]) -> Range:
    return union([span(point, point) for point in chosen])


def points_of(found: Range) -> set[int]:
    return {found.first + i for i in members(found.bits)}


@given(points, points, st.integers(0, 99))
def test_ranges_are_sets_of_points(one: set[int], other: set[int], point: int) -> None:
    found = ranged(one)
    assert (points_of(found), len(found), found.first, found.end) == (one, len(one), min(one), max(one) + 1)
    assert points_of(found | ranged(other)) == one | other
    assert found.meets(ranged(other)) == bool(one & other)
    assert {point + i for i in members(found.since(point))} == {p for p in one if p >= point}


@given(st.sets(st.integers(0, 300)))
def test_bit_sets_have_their_members_in_order(cells: set[int]) -> None:
    assert bit_set(cells) == sum(1 << cell for cell in cells)
    assert list(members(bit_set(iter(cells)))) == sorted(cells)


def test_a_value_lives_from_its_write_to_its_last_read() -> None:
    """Instruction 1 writes %r2 at point 3; instruction 3 is the last to read it, at point 6; %r3 is never read."""
    program = kernel("mov.u32 %r1, 5; add.s32 %r2, %r1, 1; mov.u32 %r3, %r2; st.shared.u32 [0], %r2; ret;")
    ranges, cell = live_ranges(program), accesses(program).cells.named
    assert ranges[cell("%r2")] == span(3, 6)
    assert ranges[cell("%r3")] == span(5, 5)


def test_a_guarded_write_adds_a_point_to_a_value_that_other_threads_keep() -> None:
    """The guard is another one at the read, so that the write at 1 does not begin a value: %r1 lives on entry."""
    body = "@%p1 mov.u32 %r1, 9; setp.lt.s32 %p1, %r2, 3; @%p1 st.shared.u32 [0], %r1; ret;"
    program = kernel(body)
    assert live_ranges(program)[accesses(program).cells.named("%r1")] == span(0, 4)
    same = kernel(body.replace("%p1, %r2", "%p2, %r2"))
    assert live_ranges(same)[accesses(same).cells.named("%r1")] == span(1, 4)


@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(),
        CompileOptions(max_registers=12),
        CompileOptions(target=target("sm_80")),
        CompileOptions(rotate=16),
    ],
    ids=["plain", "spilled", "banks", "rotated"],
)
def test_registers_are_the_same_whenever_the_past_is_dropped(
    options: CompileOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ptx.parse(random_text(7, SUMS + LOGIC + TESTS, length=30))
    found = []
    for step in (1, 7, 1 << 30):
        monkeypatch.setattr(first_fit, "STEP", step)
        found.append(listing(translate(module, "k", options)))
    assert found[0] == found[1] == found[2]
