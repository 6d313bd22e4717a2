"""The page of executed instructions: tables and picture of rows made by hand."""

from __future__ import annotations

from warpreg_workbench.vendor_code.dynamic import CODES, DESIGNS, DynamicRow
from warpreg_workbench.vendor_code.dynamic_page import MARKER, PAGE, picture, text

ROWS = [
    DynamicRow(name, code, design, 100 + 10 * place, {"mrf": 100.0} if design == "mrf" else {"mrf": 40.0, "x": 80.0})
    for name in ("first", "second")
    for place, code in enumerate(CODES)
    for design in DESIGNS
]


def test_tables() -> None:
    """110 and 120 instructions by 100; 40 reads by 100, 110 and 120 instructions; 40 of 100 reads are left."""
    lines = text(ROWS, "tiny").splitlines()
    assert "| first | 1.10 | 1.20 |" in lines
    assert "| geometric mean | 1.10 | 1.20 |" in lines
    assert "| rfc | MRF | 0.40 | 0.36 | 0.33 |" in lines
    assert "| rfc | share left to the MRF | 40.0% | 40.0% | 40.0% |" in lines


def test_a_picture_has_a_bar_for_each_code() -> None:
    drawn = picture(ROWS)
    left, right = drawn.axes
    assert [one.get_text() for one in drawn.legends[0].get_texts()] == [*CODES]
    assert (len(left.patches), len(right.patches)) == (2 * 2, 3 * (len(DESIGNS) - 1))


def test_the_page_has_the_marker() -> None:
    assert MARKER in PAGE.read_text(encoding="utf-8")
