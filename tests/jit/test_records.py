"""Records by reference, and functions out of line that take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg.jit.noinline import is_noinline, noinline, out_of_line
from warpreg.jit.rebuild import calls_out_of_line
from warpreg.jit.recipe import compiled
from warpreg.jit.records import by_reference, in_place, with_constants

Words = NDArray[np.int64]
state_of = in_place("state")
step_of = in_place("step")
by_three = with_constants((("step", 3),))


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
    state = state_of(reference)
    add_step(state[0], 0)
    for _ in range(2):
        add_step(by_reference(state[1]), 1)
    add_step(by_reference(by_three(state[0])), 2)
    return int(step_of(reference) + state[1].step)


def test_an_inner_record_is_taken_by_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word 0: 3.  Word 1: 40 twice.  Word 2: the constant 3.  Result: 500 + 40."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    plain, native = np.zeros(3, np.int64), np.zeros(3, np.int64)
    entry = compiled(add_steps, (steps(native),))
    assert add_steps(steps(plain)) == entry(steps(native)) == 540
    assert plain.tolist() == native.tolist() == [3, 80, 3]


def test_a_twin_is_out_of_line_and_the_function_is_not() -> None:
    assert calls_out_of_line((add_steps,))
    assert not calls_out_of_line((steps,))
    assert not is_noinline(steps)
    twin = out_of_line(steps)
    assert is_noinline(twin)
    assert twin is out_of_line(steps)
    assert twin.__name__ == "steps"
