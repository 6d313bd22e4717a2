"""Printed values in a figure, beside the measured ones."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from warpreg.experiments.figures import Mark
from warpreg.experiments.published import Published
from warpreg.report.panels import BAR, Panel
from warpreg.report.style import INK

PRINTED = "printed in the paper"
FRONT = 4
ASIDE = 0.25
"""Of a bar's width, to the right of its middle: the measured value is written in the middle."""


def draw_marks(axes: Axes, panel: Panel, printed: Mapping[str, Published]) -> None:
    """Those of a panel: a diamond at a place, a bar over a printed range, a broken line where there is no place."""
    label: str | None = PRINTED
    for mark in panel.figure.marks:
        if mark.panel not in ("", panel.title):
            continue
        low, high = bounds(mark, printed[mark.result])
        if mark.x is None:
            for level in {low, high}:
                axes.axhline(level, linewidth=0.9, linestyle=(0, (4, 3)), color=INK, label=label, zorder=FRONT)
                label = None
            if mark.series:
                axes.annotate(
                    mark.series, (1, high), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                    ha="right", fontsize=7, color=INK,
                )  # fmt: skip
            continue
        place = panel.position(mark.x)
        if place is None:
            continue
        if panel.figure.kind == "bars" and mark.series in panel.series:
            place += panel.offset(panel.series.index(mark.series)) + ASIDE * BAR / len(panel.series)
        if low == high:
            axes.plot(
                [place],
                [low],
                "D",
                markersize=4.5,
                markeredgecolor="white",
                linestyle="",
                color=INK,
                label=label,
                zorder=FRONT,
            )
        else:
            middle, reach = (low + high) / 2, (high - low) / 2
            axes.errorbar([place], [middle], [reach], fmt="none", capsize=3, ecolor=INK, label=label, zorder=FRONT)
        label = None


def bounds(mark: Mark, result: Published) -> tuple[float, float]:
    """The printed value twice, or the two ends of a printed range."""
    low, high = result.range if result.range is not None else (result.value, result.value)
    if low is None or high is None:
        raise ValueError(f"{mark.result} prints no number, so it has no place in a figure")
    return (1 - high, 1 - low) if mark.left else (low, high)
