"""Functions that are only lowered, linked and optimised in the one that calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import TypingError
from numba.core.types.functions import BaseFunction
from numpy.typing import NDArray

from warpreg.jit.numba_internals import outermost
from warpreg.jit.options import OPTIONS
from warpreg.jit.recipe import compiled

Words = NDArray[np.int64]


def add(words: Words, place: int, amount: int) -> None:
    words[place] += amount


def seldom(words: Words, flag: int) -> None:
    if flag == 0:
        add(words, 0, 100)


def often(words: Words, times: int) -> int:
    for _ in range(min(times, words.size)):
        add(words, 1, 1)
    return max(int(words[1]), 0)


def whole(words: Words) -> int:
    # `seldom` comes first and drops its call of `add`, which `often` needs all the same.
    seldom(words, 1)
    return often(words, 3) + often(words, 2)


def test_compiled_code_does_what_python_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    plain, native = np.zeros(4, np.int64), np.zeros(4, np.int64)
    entry = compiled(whole, (native,))
    assert entry(native) == whole(plain) == 3 + 5
    assert native.tolist() == plain.tolist() == [0, 5, 0, 0]


def test_only_the_outermost_function_is_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    entry = compiled(often, (np.zeros(4, np.int64), 3))
    (library,) = [overload.library for overload in entry.overloads.values()]
    names = {function.name for function in library.get_defined_functions()}
    assert len(names) == 2  # the function, and what unpacks Python's arguments
    assert all("entry" in name for name in names)


class Table(NamedTuple):
    rows: NDArray[np.int64]
    few: NDArray[np.uint32]


class Total(NamedTuple):
    words: Words


def add_up(table: Table, total: Total) -> int:
    for row in range(3):
        table.rows[row, 1] = table.few[row]
        add(total.words, 0, table.rows[row, 0] + table.rows[row, 1])
    return int(total.words[0])


def test_opened_arrays_are_read_and_written_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))

    def arrays() -> tuple[Table, Total]:
        return Table(np.array([[1, 0], [2, 0], [3, 0]]), np.array([0, 1, 0xFFFFFFFF], np.uint32)), Total(
            np.zeros(1, int)
        )

    plain, native = arrays(), arrays()
    entry = compiled(add_up, native, opened=True)
    assert entry(*native) == add_up(*plain) == 1 + 3 + 3 + 0xFFFFFFFF
    assert native[0].rows.tolist() == plain[0].rows.tolist()
    assert native[1].words.tolist() == plain[1].words.tolist()


def test_numba_types_as_before_once_a_function_is_compiled_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    before = BaseFunction.get_call_type

    def wrong(number: Any) -> Any:
        return number + "one"

    with pytest.raises(TypingError):
        outermost((types.int64,), OPTIONS)(wrong)
    compiled(often, (np.zeros(4, np.int64), 3))
    assert BaseFunction.get_call_type is before
