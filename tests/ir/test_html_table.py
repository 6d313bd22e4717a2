"""Tables by which objects show themselves in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from warpreg.ir.html_table import MAX_ROWS, html_table


def texts(html: str) -> list[list[str]]:
    """The texts of each row; the table is well-formed."""
    return [["".join(cell.itertext()) for cell in row] for row in ElementTree.fromstring(html).iter("tr")]


def test_texts_are_escaped_and_numbers_have_separators() -> None:
    html = html_table("a<b", ("name", "n"), [("<script>", 12345), (None, 0.12345), ("x", 1234.5), ("y", True)])
    assert "<caption" in html
    assert "a&lt;b</caption>" in html
    assert texts(html) == [["name", "n"], ["<script>", "12,345"], ["", "0.123"], ["x", "1,234"], ["y", "yes"]]


def test_of_many_rows_the_first_are_shown() -> None:
    found = texts(html_table("", ("n",), [(number,) for number in range(MAX_ROWS + 5)]))
    assert len(found) == 1 + MAX_ROWS + 1
    assert found[-1] == ["and 5 more"]


def test_a_table_without_rows_has_heads() -> None:
    assert texts(html_table("", ("a", "b"), [])) == [["a", "b"]]
