"""Tables in HTML, by which objects show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MAX_ROWS = 200
LEFT = ' style="text-align: left"'


def html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts and numbers, of which those below 100 have three digits; the first rows of many."""
    every = list(rows)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in every[:MAX_ROWS])
    if len(every) > MAX_ROWS:
        body += f'<tr><td{LEFT} colspan="{len(heads)}">and {len(every) - MAX_ROWS:,} more</td></tr>'
    first = every[0] if every else heads
    head = "".join(
        f"<th{LEFT if isinstance(one, str) else ''}>{escape(name)}</th>" for name, one in zip(heads, first, strict=True)
    )
    return f"<table><caption{LEFT}>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    if value is None or isinstance(value, str | bool):
        text = "yes" if value is True else "no" if value is False else value or ""
        return f"<td{LEFT}>{escape(text)}</td>"
    if isinstance(value, float) and value != round(value) and abs(value) < 100:
        return f"<td>{value:.3g}</td>"
    return f"<td>{value:,.0f}</td>" if isinstance(value, int | float) else f"<td{LEFT}>{escape(str(value))}</td>"
