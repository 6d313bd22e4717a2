"""Tables that are too wide, as several tables that fit: no word is cut, and each part says what its rows are."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

UNBOUNDED = 10_000
GAP = 2
"""Columns of the terminal between two columns of a table."""


def parts(whole: Table, width: int) -> list[Table]:
    """A table as tables of at most this width.

    Columns are folded between words as far as needed, and then left to further parts.  The first columns, up to the
    first numbers, stand in each part, as far as they leave half of the width to others.  A word that is wider than what
    is left is broken.
    """
    widths = [_widths(whole, place) for place in range(len(whole.columns))]
    if measured(whole).maximum <= width:
        return [whole]
    keys = _keys(whole, widths, width)
    groups: list[list[int]] = [list(keys)]
    for place in range(len(keys), len(widths)):
        is_full = _least([widths[one] for one in (*groups[-1], place)]) > width
        if is_full and len(groups[-1]) > len(keys):
            groups.append(list(keys))
        groups[-1].append(place)
    found = [_part(whole, group, [widths[place] for place in group], width) for group in groups]
    for later in found[1:]:
        later.title = None
    return found


def measured(candidate: Table) -> Measurement:
    """The widths of a table at which all words are folded and none is."""
    unbounded = Console(width=UNBOUNDED, file=io.StringIO())
    return Measurement.get(unbounded, unbounded.options, candidate)


def _widths(whole: Table, place: int) -> Measurement:
    """The widths of a column; one that is never folded has one width."""
    column = replace(whole.columns[place], _index=0)
    alone = copy.copy(whole)
    alone.title, alone.columns = None, [column]
    found = measured(alone)
    return Measurement(found.maximum, found.maximum) if column.no_wrap else found


def _least(widths: Sequence[Measurement]) -> int:
    """The least width of a table of these columns."""
    return sum(one.minimum for one in widths) + GAP * (len(widths) - 1)


def _keys(whole: Table, widths: Sequence[Measurement], width: int) -> range:
    """The first columns, which say what a row is; of text alone, the first one."""
    numbers = next((place for place, one in enumerate(whole.columns) if one.justify == "right"), None)
    few = [count for count in range(1, (numbers or 1) + 1) if _least(widths[:count]) <= width // 2]
    return range(max(few, default=1))


def _part(whole: Table, places: Sequence[int], widths: Sequence[Measurement], width: int) -> Table:
    """Some columns of a table; those that are folded share the width that is left in proportion to what they need."""
    part = copy.copy(whole)
    part.columns = [replace(whole.columns[place], _index=number) for number, place in enumerate(places)]
    needed = sum(one.maximum - one.minimum for one in widths)
    left = min(needed, max(0, width - _least(widths)))
    too_much = max(0, _least(widths) - width)
    for column, own in zip(part.columns, widths, strict=True):
        column.width = own.minimum + (own.maximum - own.minimum) * left // max(1, needed)
        column.no_wrap = column.no_wrap and not too_much
    if too_much:
        widest = max(part.columns, key=lambda column: column.width or 0)
        widest.width = max(1, (widest.width or 0) - too_much)
    return part
