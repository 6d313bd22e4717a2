"""Deadlines of instructions, and the delay of instructions without deadline under register pressure."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import after

from warpreg.codegen.schedule.deadlines import deadlines
from warpreg.codegen.schedule.dependence_graph import Dependences
from warpreg.codegen.schedule.list_scheduler import ScheduleInstructions


def graph(count: int, *edges: tuple[int, int, int]) -> Dependences:
    """Edges are ``(before, after, cycles)``."""
    found = Dependences([{} for _ in range(count)], [0] * count)
    for edge in edges:
        found.add(*edge)
    return found


def test_a_chain_is_due_as_soon_as_it_can_run() -> None:
    """0 takes 10 cycles and 1 takes 4, so 2 issues at 14."""
    assert deadlines(graph(3, (0, 1, 10), (1, 2, 4)), ["issue"] * 3, {}) == [0, 10, 14]


def test_what_is_read_late_is_due_late() -> None:
    """2 issues at 10; 1, a cycle before it, at 9, though it could go at 1."""
    assert deadlines(graph(3, (0, 2, 10), (1, 2, 1)), ["issue"] * 3, {}) == [0, 9, 10]


def test_instructions_of_one_unit_are_due_one_after_the_other() -> None:
    """Both products feed 2, which issues 4 cycles after the later; the unit takes one in two cycles."""
    assert deadlines(graph(3, (0, 2, 4), (1, 2, 4)), ["special", "special", "issue"], {"special": 2}) == [0, 2, 6]


ADDRESSES = """
    ld.global.f32 %f1, [%rd1];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd1], %f2;
    add.s64 %rd2, %rd1, 64;
    st.global.f32 [%rd2], %f2;
"""


def test_an_address_for_later_does_not_fill_the_wait_for_a_load() -> None:
    """The load's reader issues at 100, the stores at 104 and 105, so the sum for the second is due at 101."""
    early, late = (
        [line.split()[0] for line in after(ScheduleInstructions(spare=spare), ADDRESSES).splitlines()]
        for spare in (32, 0)
    )
    assert early == ["ld.global.f32", "add.s64", "add.f32", "st.global.f32", "st.global.f32", "ret"]
    assert late == ["ld.global.f32", "add.f32", "add.s64", "st.global.f32", "st.global.f32", "ret"]


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 4, 8]))
def test_memory_is_the_same_however_few_words_are_spare(seed: int, spare: int) -> None:
    forms = random_code.LOGIC
    random_code.compare(ScheduleInstructions(spare=spare), seed, forms)
