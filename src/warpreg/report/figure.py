"""A figure: its data frame, how it is drawn, and the printed values marked in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from warpreg.evaluation.studies.study import Measured, Study

Kind = Literal["lines", "bars", "stacks", "points", "scatter"]
"""Lines over numbers; adjacent bars; stacked bars; joined points, one per workload; points by two numbers.

All except ``points`` and ``scatter`` show means of the rows at one place.
"""
Mean = Literal["arithmetic", "geometric"]
LOW, HIGH = "low", "high"
"""Columns of a frame whose values have a band."""
Findings = Callable[[Study], Mapping[str, Measured]]


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of the frame along an axis.  Fractions are shown in percent."""

    column: str
    label: str
    unit: str = ""
    logarithmic: bool = False

    @property
    def heading(self) -> str:
        """The column with its unit, as in files."""
        return f"{self.column} [{self.unit}]" if self.unit else self.column


@dataclass(frozen=True, slots=True)
class Mark:
    """A result of ``published.toml`` at the place of its measured value.

    Without ``x``, it is a line across its panel, or an ``upright`` one if the value is along the axis.  ``left``: the
    paper prints a saving, and the figure shows the remainder.
    """

    result: str
    x: str | float | None = None
    series: str = ""
    panel: str = ""
    left: bool = False
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure or table."""

    name: str
    """By which the command line knows it."""
    where: str
    """Its place in the paper."""
    title: str
    frame: Callable[[Study], pd.DataFrame]
    """One row per measured value, in column ``y``; the other columns are keys, or ``LOW`` and ``HIGH``, the ends of its
    band.
    """
    kind: Kind
    x: Axis
    y: Axis
    series: str = ""
    """The column that is distinguished by colour; in ``stacks``, the parts."""
    groups: str = ""
    """The column that is distinguished by adjacent places."""
    panels: str = ""
    """The column that is distinguished by separate panels."""
    texts: str = ""
    """A column written above bars."""
    spread: bool = False
    """Draws standard deviations."""
    mean: Mean = "arithmetic"
    """Adds the mean over workloads."""
    marks: tuple[Mark, ...] = ()
    """Printed numbers."""

    @property
    def headings(self) -> dict[str, str]:
        """Columns that have a unit in files."""
        return {axis.column: axis.heading for axis in (self.x, self.y) if axis.unit}


WORKLOAD = Axis("workload", "")


def columns_as_rows(
    frame: pd.DataFrame, keys: Sequence[str], columns: Mapping[str, str], what: str, value: str
) -> pd.DataFrame:
    """One row for each of several columns: ``what`` contains its name in ``columns``, ``value`` its value."""
    rows = frame.melt([*keys], [*columns], what, value)
    return rows.assign(**{what: rows[what].map(columns)})


def of_results(findings: Findings, labels: Mapping[str, str], what: str, value: str) -> Callable[[Study], pd.DataFrame]:
    """The frame of single results: ``what`` contains the label of each, ``value`` its measured value."""

    def frame(study: Study) -> pd.DataFrame:
        found = findings(study)
        rows = [{what: label, value: float(found[result])} for result, label in labels.items() if result in found]
        return pd.DataFrame(rows, columns=[what, value])

    return frame


def marks_of(labels: Mapping[str, str]) -> tuple[Mark, ...]:
    """The printed values of the results of :func:`of_results`."""
    return tuple(Mark(result, label) for result, label in labels.items())
