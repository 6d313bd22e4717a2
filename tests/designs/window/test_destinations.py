"""The compiler's bits (thesis, section 3.4.2), and the proof of a classification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.designs.window.figure36 import FIGURE_36, line
from tests.replay.warp_runs import control_flows

from warpreg.designs import program_table
from warpreg.designs.parts.window.check import findings
from warpreg.designs.parts.window.destinations import Destination, destinations
from warpreg.designs.parts.window.window import Window
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label

NEITHER, COLLECTOR, FILE, BOTH = Destination
WINDOWS = st.builds(Window, st.integers(2, 7), st.booleans(), st.booleans())


def of_register(code: Kernel, register: int, window: int = 3) -> list[Destination]:
    """Where the results in a register go, in order of pc."""
    program = program_table(code)
    found = destinations(code, program, Window(window))
    return [Destination(bits) for name, bits in zip(program.result, found, strict=True) if name == register]


def test_figure_3_6() -> None:
    """r2 of line 3 is read in lines 4, 5 and 7, r1 of line 10 in lines 11 and 14, r3 of line 2 in line 14."""
    assert of_register(FIGURE_36, 3) == [FILE]
    assert of_register(FIGURE_36, 2) == [COLLECTOR, COLLECTOR, COLLECTOR]
    assert of_register(FIGURE_36, 1) == [COLLECTOR, COLLECTOR, COLLECTOR, BOTH]
    assert of_register(FIGURE_36, 0) == [COLLECTOR, COLLECTOR, COLLECTOR]
    assert of_register(FIGURE_36, 4) == [NEITHER]
    assert int(program_table(FIGURE_36).result[0]) == 3
    assert line(2) == 0


def test_a_window_of_1_needs_the_register_file() -> None:
    assert set(of_register(FIGURE_36, 1, window=1)) == {FILE}


def either(after: int) -> Kernel:
    """R1 is written in front of a branch; each side reads it at once, and goes on for so many instructions."""
    rest = [op("mov.b32", r(5), 0)] * after
    return kernel(
        [op("mov.b32", r(1), 1), when(p(0), op("bra", Label("b2")))],
        [op("mov.b32", r(2), r(1)), *rest, op("bra", Label("b3"))],
        [op("mov.b32", r(3), r(1)), *rest],
        [op("exit")],
        successors=((2, 1), (3,), (3,), ()),
    )


def test_a_value_read_on_both_sides_of_a_branch_is_written_to_the_file() -> None:
    """On each path the read is 2 after the write.  But the warp may run one side first; the read of the other side then
    comes ``after`` + 2 instructions after that of the first."""
    assert of_register(either(0), 1) == [COLLECTOR]
    assert of_register(either(1), 1) == [BOTH]
    assert of_register(either(1), 1, window=4) == [COLLECTOR]


def test_a_value_read_on_one_side_only_waits_for_the_other() -> None:
    """The side without a read may run first, so the distance is 2 or 5."""
    code = kernel(
        [op("mov.b32", r(1), 1), when(p(0), op("bra", Label("b2")))],
        [op("mov.b32", r(2), 0)] * 3,
        [op("mov.b32", r(3), r(1))],
        [op("exit")],
        successors=((2, 1), (3,), (3,), ()),
    )
    assert of_register(code, 1) == [BOTH]
    assert of_register(code, 1, window=5) == [BOTH]
    assert of_register(code, 1, window=6) == [COLLECTOR]


def loop(body: int) -> Kernel:
    """R1 is counted up in a loop of ``body`` + 2 instructions, with one that reads it."""
    return kernel(
        [op("mov.b32", r(1), 0)],
        [op("add.s32", r(1), r(1), 1), *[op("mov.b32", r(2), 0)] * body, when(p(0), op("bra", Label("b1")))],
        [op("exit")],
        successors=((1,), (1, 2), ()),
    )


def test_around_a_loop() -> None:
    """From one addition to the next are body + 2 instructions."""
    assert of_register(loop(0), 1) == [COLLECTOR, COLLECTOR]
    assert of_register(loop(1), 1)[1] == FILE
    assert of_register(loop(1), 1, window=4) == [COLLECTOR, COLLECTOR]


def test_a_guarded_write_does_not_end_the_old_value() -> None:
    """Line 3 reads what the guard has left; without the guard the first value would be read nowhere."""
    code = [op("mov.b32", r(1), 0), when(p(0), op("mov.b32", r(1), 1)), op("mov.b32", r(2), r(1)), op("exit")]
    assert of_register(kernel(code), 1) == [COLLECTOR, COLLECTOR]
    assert of_register(kernel([code[0], op("mov.b32", r(1), 1), *code[2:]]), 1) == [NEITHER, COLLECTOR]


def test_the_halves_of_a_pair_have_their_own_bits() -> None:
    code = [
        op("mov.b64", pair(2), 1),
        op("mov.b32", r(1), r(2)),
        *[op("mov.b32", r(4), 0)] * 3,
        op("mov.b32", r(1), r(3)),
    ]
    assert (of_register(kernel(code), 2), of_register(kernel(code), 3)) == ([COLLECTOR], [FILE])


def test_a_barrier_counts_as_an_instruction() -> None:
    code = [op("mov.b32", r(1), 0), op("bar.sync", 0), op("st.global.u32", at(pair(2)), r(1))]
    assert of_register(kernel(code), 1) == [COLLECTOR]
    assert of_register(kernel([code[0], code[1], *code[1:]]), 1) == [FILE]


@settings(max_examples=150, deadline=None)
@given(control_flows(), WINDOWS)
def test_the_independent_check_finds_nothing(code: Kernel, window: Window) -> None:
    program = program_table(code)
    assert findings(code, program, window, destinations(code, program, window)) == []


@pytest.mark.parametrize("register", [1, 3])
def test_the_check_finds_a_missing_write_of_the_file(register: int) -> None:
    """r1 of line 10, r3 of line 2: line 14 reads both too late."""
    program = program_table(FIGURE_36)
    bits = destinations(FIGURE_36, program, Window(3))
    row = next(i for i in np.flatnonzero(bits & FILE) if program.result[i] == register)
    bits[row] &= ~np.uint8(FILE)
    assert [(found.pc, found.register) for found in findings(FIGURE_36, program, Window(3), bits)] == [
        (line(14), register)
    ]
