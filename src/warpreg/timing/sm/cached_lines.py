"""A set-associative cache of lines that a kernel names: each line has a row, so that a hit needs no search.

The rows of a cache follow one another; a line's set is its number modulo the number of sets.
"""

from __future__ import annotations

from warpreg.timing.core.columns import code_lines, sms
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, LineRow, SmRow


def is_cached(c: Core, row: LineRow) -> bool:
    """Whether a cache has or expects a line."""
    return c.lines[row, code_lines.THERE_FROM] != 0


def use(c: Core, sm: SmRow, row: LineRow) -> int:
    """Use a line of a cache; returns the first cycle in which it is there."""
    c.table[sm, sms.LINES_USED] += 1
    c.lines[row, code_lines.USED] = c.table[sm, sms.LINES_USED]
    return c.lines[row, code_lines.THERE_FROM]


def bring(c: Core, first: LineRow, line: int, lines: int, sets: int, ways: int, there_from: int) -> LineRow:
    """Let a cache, with rows from ``first`` on for ``lines``, have a line from a cycle on; in a full set it takes the
    place of the one that was used least recently.
    """
    held = 0
    oldest: LineRow = NONE
    for other in range(line % sets, lines, sets):
        row = row_of(first, other)
        if is_cached(c, row):
            held += 1
            if oldest == NONE or c.lines[row, code_lines.USED] < c.lines[oldest, code_lines.USED]:
                oldest = row
    if held >= ways:
        c.lines[oldest, code_lines.THERE_FROM] = 0
    row = row_of(first, line)
    c.lines[row, code_lines.THERE_FROM] = there_from
    return row


def row_of(first: LineRow, line: int) -> LineRow:
    """The row of a line in a cache."""
    row: LineRow = first + line  # type: ignore[assignment]
    return row
