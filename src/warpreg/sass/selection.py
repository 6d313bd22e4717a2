"""Selections by number, range or name pattern, such as ``1,4,7-`` or ``gemm*``."""

from __future__ import annotations

import bisect
import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass

from warpreg.sass.errors import SassTraceError

OPEN = 1 << 62
"""The end of a range without one."""
RANGE = re.compile(r"([0-9]{1,18})(?:\s*(-)\s*([0-9]{1,18})?)?")
NUMERIC = re.compile(r"[0-9\s-]+")
MANGLED = re.compile(r"_Z(N?)K?(?=[0-9])")
SHOWN = 6
"""Ranges that a message lists."""

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Selection:
    """Numbers in ``ranges`` (both ends included, ascending, apart) and names that match one of ``patterns``."""

    ranges: tuple[Range, ...]
    patterns: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str, first: int, *, by_name: bool = False) -> Selection:
        """Items joined by commas: ``4``, ``3-5``, ``7-`` (up to the last), and with ``by_name`` patterns with ``*``,
        ``?`` and ``[...]``.  ``first`` is the lowest number.  Raises SassTraceError for anything else, also for none.
        """
        items = [item for item in map(str.strip, text.split(",")) if item]
        if not items:
            raise SassTraceError(f"'{text}': expected numbers such as {first},{first + 3}-, found none")
        is_name = {item: by_name and not NUMERIC.fullmatch(item) for item in items}
        ranges = [_range(item, first, by_name) for item in items if not is_name[item]]
        return Selection(_joined(ranges), tuple(sorted(item for item in is_name if is_name[item])))

    def __str__(self) -> str:
        return ",".join((*map(_text, self.ranges), *self.patterns))

    def __contains__(self, number: int) -> bool:
        place = bisect.bisect_right(self.ranges, (number, OPEN))
        return place > 0 and number <= self.ranges[place - 1][1]

    def beyond(self, end: int) -> str:
        """The numbers from ``end`` on, in words; empty if there are none.  A range without an end may begin below."""
        return listed((max(low, end), high) for low, high in self.ranges if low >= end or end <= high < OPEN)

    def count(self, end: int) -> int:
        """How many numbers below ``end`` are selected."""
        return sum(max(0, min(high, end - 1) - low + 1) for low, high in self.ranges)

    def below(self, end: int) -> str:
        """The selection with the ends of its ranges, if there are numbers below ``end``."""
        ranges = ((low, min(high, end - 1)) for low, high in self.ranges if low < end)
        return ",".join((*map(_text, ranges), *self.patterns))

    def matches(self, *names: str) -> bool:
        """Whether one of the names matches a pattern."""
        return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in self.patterns)


def spans(numbers: Iterable[int]) -> tuple[Range, ...]:
    """Numbers as ranges."""
    return _joined((number, number) for number in numbers)


def listed(ranges: Iterable[Range]) -> str:
    """Ranges for a message, of many the first ones."""
    texts = [_text(one) for one in ranges]
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def plain_names(kernel: str) -> tuple[str, ...]:
    """Names of a kernel for patterns: as it is, and without mangling and parameters, with and without its namespaces.

    ``_ZN2at6native3foo...`` and ``void at::native::foo<4>(int)`` are also ``at::native::foo`` and ``foo``.
    """
    found = MANGLED.match(kernel)
    parts: list[str] = []
    if found:
        at = found.end()
        while (length := re.match(r"[0-9]{1,4}", kernel[at:])) and (found[1] or not parts):
            at += length.end()
            parts.append(kernel[at : at + int(length[0])])
            at += int(length[0])
    else:
        words = re.split(r"[<(]", kernel, maxsplit=1)[0].split()
        parts = words[-1].split("::") if words else []
    return tuple(dict.fromkeys([kernel, "::".join(parts), parts[-1] if parts else kernel]))


def _range(item: str, first: int, by_name: bool) -> Range:
    match = RANGE.fullmatch(item)
    if match is None:
        pattern = " or a pattern such as gemm*" if by_name else ""
        raise SassTraceError(f"'{item}': expected a number or a range such as {first + 3}, {first}-5, 7-{pattern}")
    low = int(match[1])
    high = int(match[3]) if match[3] else OPEN if match[2] else low
    if low < first:
        raise SassTraceError(f"'{item}': numbers begin at {first}")
    if high < low:
        raise SassTraceError(f"'{item}': expected a range from low to high, {high}-{low}")
    return low, high


def _joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Sorted, without overlaps and neighbours."""
    joined: list[Range] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return tuple(joined)


def _text(one: Range) -> str:
    low, high = one
    return str(low) if low == high else f"{low}-{'' if high == OPEN else high}"
