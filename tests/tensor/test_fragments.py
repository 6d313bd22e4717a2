"""Fragments against PTX's figures, implemented again in the reference, and against entries read from the figures."""

from __future__ import annotations

import pytest
from tests.reference import matrix_layouts
from tests.tensor.forms import ALL, product


@pytest.mark.parametrize("form", ALL)
def test_every_fragment_is_that_of_the_figures(form: str) -> None:
    p = product(form)
    for matrix in "abcd":
        kind, fragment = p.element_type(matrix), p.fragment(matrix)
        layout = p.layouts[1] if matrix == "b" else p.layouts[0]
        place = matrix_layouts.place(matrix, (p.rows, p.columns, p.inner), kind, layout)
        step = 32 if kind == "b1" else 1
        for element, lanes in enumerate(fragment.elements):
            for lane, found in enumerate(lanes):
                which, row, column = place(lane, element * step)
                expected = (which, row, column // step) if matrix == "a" else (which, row // step, column)
                assert found == (expected if matrix in "ab" else (which, row, column)), (matrix, element, lane)


@pytest.mark.parametrize("form", ALL)
def test_each_place_is_held_once(form: str) -> None:
    p = product(form)
    words = 32 if p.a == "b1" else 1
    extents = {"a": (p.rows, p.inner // words), "b": (p.inner // words, p.columns)}
    for matrix in "abcd":
        rows, columns = extents.get(matrix, (p.rows, p.columns))
        places = [place for place, _, _ in p.fragment(matrix).holders()]
        assert sorted(places) == [(w, r, c) for w in range(p.products) for r in range(rows) for c in range(columns)]


@pytest.mark.parametrize(
    ("form", "matrix", "lane", "element", "row", "column"),
    [
        # Figures of the PTX ISA: T<lane>: {<matrix><element>} at a row and column.
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a", 0, 0, 0, 0),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a", 31, 7, 15, 15),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a", 4, 2, 9, 0),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "b", 5, 3, 11, 1),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "d", 30, 3, 15, 5),
        ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "a", 29, 2, 7, 6),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "b", 2, 5, 25, 0),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "a", 7, 3, 9, 7),
    ],
)
def test_entries_of_the_figures(form: str, matrix: str, lane: int, element: int, row: int, column: int) -> None:
    assert product(form).fragment(matrix).elements[element][lane] == (0, row, column)
