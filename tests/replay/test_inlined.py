"""Functions that are only lowered, linked and optimised in the one that calls them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg.replay.functions import compiled

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
