"""Calls of machine code from Python: arguments are read as they are, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from piecewise_numba.entry_points import EntryPoint, code_from
from piecewise_numba.fault_record import HookFaultError
from piecewise_numba.guards import fail
from piecewise_numba.recipe import Recipe, compiled

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f4", "f8")


class Inner(NamedTuple):
    rows: Any
    scale: Any


class Outer(NamedTuple):
    inner: Inner
    words: Any
    more: Any


def total(outer: Outer, start: int, negative: bool) -> Any:
    found = outer.inner.scale * start
    for row in range(outer.inner.rows.shape[0]):
        for column in range(outer.inner.rows.shape[1]):
            found += outer.inner.rows[row, column] * (1 + row - column)
    for word in outer.words:
        found += int(word)
    found += outer.more[0] - outer.more[1]
    return -found if negative else found


def numbers(kind: str, shape: Any) -> Any:
    return arrays(np.dtype(kind), shape, elements=st.integers(0, 20))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_arguments_arrive_as_they_are(data: st.DataObject) -> None:
    rows = data.draw(numbers("i8", st.tuples(st.integers(0, 4), st.integers(0, 4))))
    words = data.draw(numbers("u2", st.integers(0, 5)))
    outer = Outer(Inner(rows, data.draw(st.integers(-5, 5))), words, (data.draw(st.integers(0, 9)), 3.5))
    start, negative = data.draw(st.integers(-9, 9)), data.draw(st.booleans())
    assert compiled(total, (outer, start, negative))(outer, start, negative) == total(outer, start, negative)


def first(words: Any) -> Any:
    return words[0]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("least", [False, True])
def test_whole_numbers_of_each_width_return_as_they_are(kind: str, least: bool) -> None:
    limits = np.iinfo(kind)
    words = np.array([limits.min if least else limits.max], kind)
    assert compiled(first, (words,))(words) == int(words[0])


@pytest.mark.parametrize("kind", FLOATS)
def test_fractions_return_as_they_are(kind: str) -> None:
    words = np.array([0.1], kind)
    assert compiled(first, (words,))(words) == float(words[0])


def is_more(left: float, right: float) -> bool:
    return left > right


def nothing(number: int) -> None:
    pass


def test_truth_and_nothing_return_as_they_are() -> None:
    assert compiled(is_more, (1.0, 2.0))(3.0, 2.0) is True
    assert compiled(is_more, (1.0, 2.0))(1.0, 2) is False
    assert compiled(nothing, (1,))(2) is None


def test_a_view_is_read_where_it_is_if_the_code_was_compiled_for_views() -> None:
    words = np.arange(10)[::3]
    assert compiled(first, (words,))(words[1:]) == 3


WORDS = np.zeros(2, np.int64)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((np.zeros(2, np.int32), 1), r"argument\.0: expected array\(int64, 1d, C\)"),
        ((np.zeros((2, 2), np.int64), 1), r"argument\.0: expected array\(int64, 1d, C\)"),
        ((np.zeros(4, np.int64)[::2], 1), r"argument\.0: expected array\(int64, 1d, C\)"),
        (([0, 0], 1), r"argument\.0: expected array\(int64, 1d, C\)"),
        ((WORDS,), "argument: expected 2 values"),
        ((WORDS, 1, 1), "argument: expected 2 values"),
        ((WORDS, "one"), "'str' object cannot be interpreted as an integer"),
        ((WORDS, None), "'NoneType' object cannot be interpreted as an integer"),
    ],
)
def test_arguments_of_other_types_are_refused(wrong: tuple[Any, ...], message: str) -> None:
    entry = compiled(put, (WORDS, 1))
    with pytest.raises(TypeError, match=message):
        entry(*wrong)
    assert WORDS.tolist() == [0, 0]


def put(words: NDArray[np.int64], number: int) -> None:
    words[0] = number


def test_an_array_that_must_not_be_written_is_refused_by_code_that_writes() -> None:
    entry, kept = compiled(put, (WORDS, 1)), np.zeros(2, np.int64)
    kept.flags.writeable = False
    with pytest.raises(TypeError, match=r"argument\.0: expected array"):
        entry(kept, 1)


def stop_at(words: NDArray[np.int64], limit: int) -> int:
    if words[0] > limit:
        fail(1, 2, words[0], 0, limit)
    return int(words[1])


def test_what_the_code_raises_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    made: Any = compiled(stop_at, (WORDS, 1))
    loaded = EntryPoint.loaded(code_from(made.code.as_bytes()))
    for entry in (made, loaded):
        assert entry(np.array([3, 7]), 3) == 7
        with pytest.raises(HookFaultError):
            entry(np.array([4, 7]), 3)
        assert entry(np.array([3, 8]), 3) == 8


def at(words: NDArray[np.int64], place: int) -> int:
    return int(words[place])


def test_a_checked_index_out_of_bounds_is_an_index_error() -> None:
    entry = Recipe(at, mode="checked").build((WORDS, 1))
    with pytest.raises(IndexError, match="out of bounds"):
        entry(WORDS, 2)
