"""Type keys distinguish exactly the types that compiled code must distinguish."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from piecewise_numba.type_keys import kind


class _Pair(NamedTuple):
    first: int
    second: int


class _Other(NamedTuple):
    first: int
    second: int


def test_arrays_differ_by_element_dimensions_layout_and_writing() -> None:
    words = np.zeros(8, np.int64)
    frozen = words.view()
    frozen.flags.writeable = False
    different = [words, words.view(np.uint64), words.reshape(2, 4), words.reshape(2, 4).T, words[::2], frozen]
    assert len({kind(array) for array in different}) == len(different)


def test_length_and_content_do_not_matter() -> None:
    assert kind(np.zeros(8)) == kind(np.ones(9)) == kind(np.ones(9)[:4])


def test_tuples_differ_by_their_class_and_parts() -> None:
    different = [(1, 2), _Pair(1, 2), _Other(1, 2), (1, 2.0), (1, 2, 3)]
    assert len({kind(value) for value in different}) == len(different)
    assert kind(_Pair(1, 2)) == kind(_Pair(3, 4))
