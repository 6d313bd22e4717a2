"""Layout of a figure's data: panels, places on the axis, series, and the means at each place."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from warpreg.report.figure import HIGH, LOW, Figure, Mean

MEAN = "mean"
"""The place of the mean, after the last workload."""
BAR = 0.84
"""Width of all bars of a place, as a fraction of the place."""
Keyed = Mapping[tuple[str, str, str], list[float]]
SMALLEST = 1e-6
"""Replacement of non-positive values in a geometric mean."""


def text(value: object) -> str:
    """A key as text on an axis; 4, 4.0 and "4" are equal."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def keys(rows: pd.DataFrame, column: str) -> list[str]:
    """The keys of a column in numeric order, else in order of first appearance; one empty key without a column."""
    if not column:
        return [""]
    values = rows[column].unique().tolist()
    if all(isinstance(value, int | float) for value in values):
        values.sort()
    return [text(value) for value in values]


def mean_of(values: Sequence[float], mean: Mean = "arithmetic") -> float:
    """The mean of some values; NaN if there are none."""
    if not values:
        return math.nan
    if mean == "geometric":
        return math.exp(statistics.fmean(math.log(max(value, SMALLEST)) for value in values))
    return statistics.fmean(values)


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: its rows, and the keys of series and groups, the same in all panels."""

    figure: Figure
    title: str
    rows: pd.DataFrame
    series: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        """Whether places on the axis are numbers, not names."""
        return self.figure.kind in ("lines", "scatter")

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The names along the axis."""
        found = keys(self.rows, self.figure.x.column)
        by_workload = self.figure.x.column == "workload" and self.figure.kind in ("bars", "stacks")
        return (*found, MEAN) if by_workload and len(found) > 1 else tuple(found)

    @property
    def sides(self) -> tuple[str, ...]:
        """The keys of the adjacent bars at a place."""
        return self.groups if self.figure.kind == "stacks" else self.series

    def position(self, place: str | float) -> float | None:
        """The position of a place on the axis; None if it is not on it."""
        if self.numeric:
            return float(place)
        return float(self.places.index(text(place))) if text(place) in self.places else None

    def offset(self, side: int) -> float:
        """The offset of a bar from the middle of its place."""
        sides = len(self.sides)
        return (side - (sides - 1) / 2) * BAR / sides

    def values(self, series: str, group: str = "") -> Iterator[tuple[str, list[float]]]:
        """The values at each place; at the place of the mean, those of all workloads."""
        yield from self._values_of(self._by_key, series, group)

    def band(self, series: str) -> tuple[list[float], list[float]] | None:
        """The means of the low and the high ends at each place; None for values without a band."""
        if LOW not in self.rows:
            return None
        low, high = (
            [mean_of(values, self.figure.mean) for _, values in self._values_of(self._keyed(end), series, "")]
            for end in (LOW, HIGH)
        )
        return low, high

    def _values_of(self, found: Keyed, series: str, group: str) -> Iterator[tuple[str, list[float]]]:
        for place in self.places:
            names = [place] if place != MEAN else self.places[:-1]
            yield place, [value for name in names for value in found.get((name, series, group), ())]

    def means(self, series: str, group: str = "") -> list[float]:
        """The mean at each place."""
        return [mean_of(values, self.figure.mean) for _, values in self.values(series, group)]

    def means_of_all(self) -> list[float]:
        """The mean at each place over the rows of all series."""
        places = self.rows[self.figure.x.column].map(text)
        values = [self.rows[self.figure.y.column][places == place].tolist() for place in self.places]
        return [mean_of(each, self.figure.mean) for each in values]

    def texts(self, series: str) -> list[str]:
        """The texts above the bars of a series."""
        column, rows = self.figure.texts, self.rows
        chosen = rows[rows[self.figure.series].map(text) == series] if self.figure.series else rows
        by_place = dict(zip(chosen[self.figure.x.column].map(text), chosen[column], strict=True))
        return [by_place.get(place, "") for place in self.places]

    @cached_property
    def _by_key(self) -> Keyed:
        return self._keyed(self.figure.y.column)

    def _keyed(self, column: str) -> Keyed:
        """The values of a column by place, series and group."""
        figure, values = self.figure, dict[tuple[str, str, str], list[float]]()
        columns = [figure.x.column, figure.series, figure.groups]
        texts = [self.rows[one].map(text) if one else [""] * len(self.rows) for one in columns]
        for place, series, group, value in zip(*texts, self.rows[column], strict=True):
            values.setdefault((place, series, group), []).append(float(value))
        return values


def panels_of(figure: Figure, frame: pd.DataFrame) -> list[Panel]:
    """The panels of a figure; rows without a value are omitted."""
    rows = frame[frame[figure.y.column].notna()]
    series, groups = tuple(keys(rows, figure.series)), tuple(keys(rows, figure.groups))
    return [
        Panel(figure, title, rows[rows[figure.panels].map(text) == title] if title else rows, series, groups)
        for title in keys(rows, figure.panels)
    ]


def spread(values: Iterable[float]) -> float:
    """Standard deviation; 0 for fewer than two values."""
    found = list(values)
    return statistics.pstdev(found) if len(found) > 1 else 0.0
