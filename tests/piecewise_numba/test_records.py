"""Records by reference, and functions out of line that take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from piecewise_numba.noinline import is_noinline, noinline, out_of_line
from piecewise_numba.rebuild import calls_out_of_line
from piecewise_numba.recipe import compiled
from piecewise_numba.records import by_reference, replacing, with_constants

Words = NDArray[np.int64]
by_three = with_constants((("step", 3),))
with_step = replacing("step")
with_both = replacing("state", "step")


class Steps(NamedTuple):
    words: Words
    step: int


class States(NamedTuple):
    once: Steps
    twice: Steps


class Outer(NamedTuple):
    state: States
    step: int


def steps(words: Words) -> Outer:
    """Step 3 in the first inner record, 40 in the second, 500 outside."""
    return Outer(States(Steps(words, 3), Steps(words, 40)), 500)


@noinline
def add_step(steps: Any, place: int) -> None:
    steps.words[place] += steps.step


def add_steps(outer: Outer) -> int:
    """Inner records of a record by reference, by name and by index, and a copy of one with a constant."""
    reference = by_reference(outer)
    state = reference.state
    add_step(state[0], 0)
    for _ in range(2):
        add_step(by_reference(state[1]), 1)
    add_step(by_reference(by_three(state[0])), 2)
    return int(reference.step + state[1].step)


def added_steps(outer: Outer) -> int:
    return add_steps(outer)


def test_an_inner_record_is_taken_by_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word 0: 3.  Word 1: 40 twice.  Word 2: the constant 3.  Result: 500 + 40."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    plain, native = np.zeros(3, np.int64), np.zeros(3, np.int64)
    entry = compiled(added_steps, (steps(native),))
    assert add_steps(steps(plain)) == entry(steps(native)) == 540
    assert plain.tolist() == native.tolist() == [3, 80, 3]


@noinline
def steps_of(outer: Any) -> int:
    return int(outer.step + 10 * outer.state.once.step)


def changed_steps(outer: Outer) -> int:
    """A record by reference with one other value, with two, with another one for the first, and the record itself."""
    reference = by_reference(outer)
    one = with_step(reference, 1)
    both = with_both(one, reference.state, 2)
    return 1000 * (1000 * (steps_of(one)) + steps_of(both)) + steps_of(by_reference(with_step(both, 7))) + outer.step


def test_a_changed_reference_leaves_the_record_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """31, 32 and 37 are a step and ten times the first inner one, 3; the last three digits are 37 + 500."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    given = steps(np.zeros(1, np.int64))
    assert changed_steps(given) == compiled(changed_steps, (given,))(given) == 31_032_537


def test_a_twin_is_out_of_line_and_the_function_is_not() -> None:
    assert calls_out_of_line((add_steps,))
    assert not calls_out_of_line((steps,))
    assert not is_noinline(steps)
    twin = out_of_line(steps)
    assert is_noinline(twin)
    assert twin is out_of_line(steps)
    assert twin.__name__ == "steps"
