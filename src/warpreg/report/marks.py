"""Marks of printed values in a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from matplotlib.axes import Axes

from warpreg.report.figure import Mark
from warpreg.report.panels import BAR, Panel
from warpreg.report.style import INK

PRINTED = "printed in the paper"
FRONT = 4
ASIDE = 0.25
"""Offset to the right of a bar's middle, in bar widths: the measured value is written in the middle."""


class Printed(Protocol):
    """A printed result: a number, or the two ends of a range."""

    @property
    def value(self) -> float | None: ...

    @property
    def range(self) -> tuple[float, float] | None: ...


def draw_marks(axes: Axes, panel: Panel, printed: Mapping[str, Printed]) -> None:
    """Draw the marks of a panel: a diamond at a place, a bar for a printed range, a dashed line without a place."""
    label: str | None = PRINTED
    for mark in panel.figure.marks:
        if mark.panel not in ("", panel.title):
            continue
        low, high = bounds(mark, printed[mark.result])
        place = _place(panel, mark)
        if mark.x is None:
            _across(axes, mark, low, high, label)
        elif place is None:
            continue
        elif low == high:
            look: dict[str, Any] = {"markersize": 4.5, "markeredgecolor": "white", "color": INK, "zorder": FRONT}
            axes.plot([place], [low], "D", label=label, **look)
        else:
            middle, reach = (low + high) / 2, (high - low) / 2
            axes.errorbar([place], [middle], [reach], fmt="none", capsize=3, ecolor=INK, label=label, zorder=FRONT)
        label = None


def _place(panel: Panel, mark: Mark) -> float | None:
    """The position of a mark along the axis: at its bar, to the right of the middle."""
    place = None if mark.x is None else panel.position(mark.x)
    if place is not None and panel.figure.kind == "bars" and mark.series in panel.series:
        return place + panel.offset(panel.series.index(mark.series)) + ASIDE * BAR / len(panel.series)
    return place


def _across(axes: Axes, mark: Mark, low: float, high: float, label: str | None) -> None:
    line = axes.axvline if mark.upright else axes.axhline
    for level in sorted({low, high}):
        line(level, linewidth=0.9, linestyle=(0, (4, 3)), color=INK, label=label, zorder=FRONT)
        label = None
    if mark.series:
        axes.annotate(
            mark.series, (1, high), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", fontsize=7, color=INK,
        )  # fmt: skip


def bounds(mark: Mark, result: Printed) -> tuple[float, float]:
    """The printed value twice, or the two ends of a printed range."""
    low, high = result.range if result.range is not None else (result.value, result.value)
    if low is None or high is None:
        raise ValueError(f"{mark.result} prints no number, so it has no place in a figure")
    return (1 - high, 1 - low) if mark.left else (low, high)
