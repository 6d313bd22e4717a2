"""Parts of generated pages as Markdown: table lines, items of lists, paragraphs; lines have at most 120 characters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

DIGITS = 4
"""Significant digits of numbers."""
LINE = 120


def cell(value: object) -> str:
    """A value in a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " to ".join(cell(one) for one in value)
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def line(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def item(text: str) -> str:
    """An item of a list; ``text`` begins with its mark."""
    return textwrap.fill(text, LINE, subsequent_indent="  ", break_on_hyphens=False)


def filled(text: str) -> str:
    """A paragraph between empty lines."""
    return f"\n{textwrap.fill(text.strip(), LINE, break_on_hyphens=False)}\n"
