"""Launches that a machine cannot tell apart are timed once (docs/reference/timing.md, Equal launches)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simt.programs import COMPILED, prepare
from tests.timing.test_miniatures import miniature

from warpreg import timing
from warpreg.designs import Design, load
from warpreg.gpu import Machine
from warpreg.gpu import load as load_machine
from warpreg.simt import Launch, Record
from warpreg.timing.launch import simulate as timing_of_launches
from warpreg.timing.launch.equal_launches import first_equals, sees_addresses
from warpreg.timing.results.result import TimingResult, joined

ODD_LINES = miniature("odd_lines")
FIXED, CACHED = "gebhart-rfc", "gtx480"
LINE_WORDS, SECTOR_WORDS = 32, 8
BODY = """
add.u32 %r0, %t, %shift;
mad.wide.u32 %rd1, %r0, 4, %x;
ld.global.u32 %r1, [%rd1];
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %t, %some;
@%p1 add.u32 %r1, %r1, %r0;
@%p1 bra L;
mul.lo.u32 %r1, %r1, 3;
L: st.global.u32 [%rd1], %r1;
"""
"""The element ``shift`` further on; the first ``some`` threads take another path."""


class Program:
    """Launches of one kernel on one array, each on the elements from ``shift`` on."""

    def __init__(self) -> None:
        x = np.arange(4 * LINE_WORDS * 8, dtype=np.uint32)
        record = Record(path=True, addresses=True, widths=True)
        self.device, self.arguments = prepare(BODY, {"x": x, "shift": 0, "some": 0}, options=COMPILED, record=record)

    def launch(self, shift: int = 0, some: int = 0, grid: int = 3) -> Launch:
        return self.device.launch("k", grid, 64, self.arguments["x"], shift, some)


@pytest.fixture(scope="module")
def program() -> Program:
    return Program()


@pytest.fixture
def timings(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """The launches that were timed."""
    found: list[Launch] = []
    real = timing_of_launches.timed

    def counted(launch: Launch, *rest: Any) -> Any:
        found.append(launch)
        return real(launch, *rest)

    monkeypatch.setattr(timing_of_launches, "timed", counted)
    return found


def simulate(launches: Sequence[Launch], machine: Machine | str = FIXED, **options: Any) -> TimingResult:
    return timing.simulate(launches, machine, sms=2, **options)


def separately(launches: Sequence[Launch], machine: Machine | str = FIXED, **options: Any) -> TimingResult:
    return joined([simulate([launch], machine, **options) for launch in launches])


def test_a_launch_that_is_repeated_is_timed_once(program: Program, timings: list[Launch]) -> None:
    launches = [program.launch(), program.launch(), program.launch(some=64), program.launch()]
    found = simulate(launches)
    assert timings == [launches[0], launches[2]]
    assert found.as_dict() == separately(launches).as_dict()


def test_other_lines_take_as_long_where_nothing_sees_addresses(program: Program, timings: list[Launch]) -> None:
    """A whole line further on, each warp has the same transactions of the same sectors."""
    launches = [program.launch(), program.launch(shift=LINE_WORDS)]
    for design in ("mrf", "rfc"):
        timings.clear()
        found = simulate(launches, designs=[design])
        assert timings == launches[:1]
        assert found.as_dict() == separately(launches, designs=[design]).as_dict()


def test_other_sectors_do_not(program: Program, timings: list[Launch]) -> None:
    """From the second word on, the 128 bytes of a warp lie in five sectors of two lines, not in four of one."""
    launches = [program.launch(), program.launch(shift=1)]
    one, two = (simulate([launch]) for launch in launches)
    assert two.transactions == 2 * one.transactions
    timings.clear()
    simulate(launches)
    assert timings == launches


def test_a_design_that_sees_addresses_is_timed_on_each(program: Program, timings: list[Launch]) -> None:
    """Each of six warps loads and stores in one line, every second one in an odd line; a line further on, the others
    do.
    """
    launches = [program.launch(), program.launch(), program.launch(shift=LINE_WORDS, grid=3)]
    found = simulate(launches, designs=[ODD_LINES])
    assert timings == [launches[0], launches[2]]
    assert found.counts.events == {"odd": 3 * 6}


def test_what_hooks_read_is_found_in_all_functions_that_they_reach() -> None:
    assert sees_addresses(ODD_LINES)
    assert sees_addresses(load("larf"))
    assert not sees_addresses(load("rfc"))


def test_a_design_that_sees_widths_is_timed_on_other_values(program: Program) -> None:
    """Each launch stores larger numbers than it loads, so the next one loads wider values; the path is the same."""
    launches = [program.launch() for _ in range(9)]
    machine = load_machine(FIXED)
    assert set(first_equals(launches, machine, load("mrf"))) == {0}
    assert len(set(first_equals(launches, machine, miniature("narrow")))) > 1


@pytest.mark.parametrize(("cold", "expected"), [(False, 3), (True, 2)])
def test_caches_tell_launches_apart(program: Program, timings: list[Launch], cold: bool, expected: int) -> None:
    """The second level keeps what a launch leaves; with empty caches, only other lines are another launch."""
    launches = [program.launch(), program.launch(), program.launch(shift=LINE_WORDS)]
    simulate(launches, CACHED, cold=cold)
    assert len(timings) == expected


def test_other_kernels_and_grids_are_other_launches(program: Program, timings: list[Launch]) -> None:
    launches = [program.launch(), program.launch(grid=2), Program().launch()]
    simulate(launches)
    assert timings == launches


def test_the_reference_times_each_launch(program: Program, timings: list[Launch]) -> None:
    launches = [program.launch(), program.launch()]
    assert simulate(launches, mode="interpreted").as_dict() == simulate(launches).as_dict()
    assert timings == [*launches, launches[0]]


shapes = st.tuples(st.sampled_from((0, 1, SECTOR_WORDS, LINE_WORDS)), st.sampled_from((0, 40)), st.sampled_from((2, 3)))


@settings(max_examples=25, deadline=None)
@given(chosen=st.lists(shapes, min_size=2, max_size=5), design=st.sampled_from(("mrf", "rfc", ODD_LINES)))
def test_results_are_those_of_each_launch_alone(chosen: list[tuple[int, int, int]], design: Design | str) -> None:
    program = Program()
    launches = [program.launch(*shape) for shape in chosen]
    assert simulate(launches, designs=[design]).as_dict() == separately(launches, designs=[design]).as_dict()


def test_the_fixed_model_is_that_of_the_machine() -> None:
    """What these tests rest on."""
    assert load_machine(FIXED).memory.memory.model == "fixed"
    assert load_machine(CACHED).memory.memory.model != "fixed"
