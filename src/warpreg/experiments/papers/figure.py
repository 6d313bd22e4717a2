"""What a figure of a paper is: a tidy frame, how it is drawn, and the printed values that are marked in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from warpreg.experiments.studies.published import Measured
from warpreg.experiments.studies.study import Study

Kind = Literal["lines", "bars", "stacks", "points", "scatter"]
"""Lines over numbers; bars side by side; bars stacked of parts; points one a workload, joined; points by two numbers.

All but ``points`` and ``scatter`` show means of the rows that fall on one place.
"""
Mean = Literal["arithmetic", "geometric"]
Findings = Callable[[Study], Mapping[str, Measured]]


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of the frame along an axis.  Fractions are drawn in percent."""

    column: str
    label: str
    unit: str = ""
    logarithmic: bool = False

    @property
    def heading(self) -> str:
        """The column with its unit, as files name it."""
        return f"{self.column} [{self.unit}]" if self.unit else self.column


@dataclass(frozen=True, slots=True)
class Mark:
    """A result of ``published.toml`` at the place of its measured value.

    Without ``x`` it is a line across its panel, or an ``upright`` one if the value lies along the axis; ``left``: the
    paper prints a saving, and the figure what is left.
    """

    result: str
    x: str | float | None = None
    series: str = ""
    panel: str = ""
    left: bool = False
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure or table.

    ``frame`` has a row for each measured value, in column ``y``; the other columns say of what.  ``series`` is told
    apart by colour (in ``stacks`` the parts), ``groups`` by places side by side, ``panels`` by pictures of their own.
    ``texts`` is a column written over bars; ``spread`` draws standard deviations; ``mean`` adds, where workloads are
    apart, the mean over them.
    """

    name: str
    where: str
    title: str
    frame: Callable[[Study], pd.DataFrame]
    kind: Kind
    x: Axis
    y: Axis
    series: str = ""
    groups: str = ""
    panels: str = ""
    texts: str = ""
    spread: bool = False
    mean: Mean = "arithmetic"
    marks: tuple[Mark, ...] = ()

    @property
    def headings(self) -> dict[str, str]:
        """Columns whose names get a unit in files."""
        return {axis.column: axis.heading for axis in (self.x, self.y) if axis.unit}


WORKLOAD = Axis("workload", "")


def columns_as_rows(
    frame: pd.DataFrame, keys: Sequence[str], columns: Mapping[str, str], what: str, value: str
) -> pd.DataFrame:
    """A row for each of several columns: ``what`` has the name that ``columns`` gives it, ``value`` its value."""
    rows = frame.melt([*keys], [*columns], what, value)
    return rows.assign(**{what: rows[what].map(columns)})


def of_results(findings: Findings, labels: Mapping[str, str], what: str, value: str) -> Callable[[Study], pd.DataFrame]:
    """The frame of single results: ``what`` has the label of each, ``value`` its measured value."""

    def frame(study: Study) -> pd.DataFrame:
        found = findings(study)
        rows = [{what: label, value: float(found[result])} for result, label in labels.items() if result in found]
        return pd.DataFrame(rows, columns=[what, value])

    return frame


def marks_of(labels: Mapping[str, str]) -> tuple[Mark, ...]:
    """The printed values beside those of :func:`of_results`."""
    return tuple(Mark(result, label) for result, label in labels.items())
