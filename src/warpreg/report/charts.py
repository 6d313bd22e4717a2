"""Draw figures (`warpreg.report.figure`): one general function per kind."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FixedLocator, FuncFormatter, PercentFormatter, ScalarFormatter

from warpreg.report.figure import Figure, Kind
from warpreg.report.marks import PRINTED, Printed, draw_marks
from warpreg.report.panels import BAR, MEAN, Panel, panels_of, spread, text
from warpreg.report.style import (
    INK,
    LEVEL_COLOURS,
    QUIET,
    SERIES_COLOURS,
    SERIES_MARKERS,
    horizontal_grid,
    style,
)

MANY = 12
"""Maximum number of bars with values above them; panels with more places are stacked in rows, with rotated names."""
WIDE, NARROW, PANEL, HEIGHT, ROW = 9.6, 4.8, 3.4, 3.4, 2.6
"""Inches: the widest figure, the narrowest, a panel beside others, a figure of one row, a row of several."""
FOLD = 17
"""Characters per line of a name."""
TALL = 40
"""Characters per line of the label beside a panel."""
CHARACTER = 0.068
"""Inches per character of a name."""
KEY = 0.5
"""Inches of a legend key beside its name."""
WIRE_HATCH = "/////"
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}


def picture(figure: Figure, frame: pd.DataFrame, printed: Mapping[str, Printed]) -> Picture:
    """A figure drawn from its frame; ``printed`` are the printed results by id."""
    panels = panels_of(figure, frame)
    in_rows = any(_is_wide(panel) for panel in panels)
    shape = (len(panels), 1) if in_rows else (1, len(panels))
    with style():
        drawn = Picture(figsize=_inches(panels, in_rows), layout="constrained")
        FigureCanvasAgg(drawn)
        share_names = in_rows and len({panel.places for panel in panels}) == 1
        grid: Any = drawn.subplots(*shape, squeeze=False, sharey=not in_rows, sharex=share_names)
        for axes, panel in zip(grid.flat, panels, strict=True):
            DRAW[figure.kind](axes, panel)
            draw_marks(axes, panel, printed)
            _axes(axes, panel)
        for axes in grid.flat:
            _from_zero(axes, grid.flat)
        for axes in grid[-1]:
            axes.set_xlabel(figure.x.label)
        drawn.supylabel(textwrap.fill(figure.y.label, TALL), fontsize=9)
        _legend(drawn, grid.flat, figure.series)
        drawn.suptitle(f"{figure.where}: {figure.title}", x=0.01, ha="left", fontsize=10, fontweight="bold")
    return drawn


def _inches(panels: Sequence[Panel], in_rows: bool) -> tuple[float, float]:
    """Width and height of a figure."""
    height = (ROW * len(panels) if len(panels) > 1 and in_rows else HEIGHT) + 0.4
    if in_rows or panels[0].figure.kind == "scatter":
        return WIDE, height
    return min(WIDE, max(NARROW, PANEL * len(panels), _named_width(panels))), height


def _is_wide(panel: Panel) -> bool:
    bars = len(panel.places) * (len(panel.sides) if panel.figure.kind in ("bars", "stacks") else 1)
    return not panel.numeric and (len(panel.places) > MANY or bars >= 2 * MANY)


def _named_width(panels: Sequence[Panel]) -> float:
    """Inches that the names along the axis need in one row."""
    longest = max(
        (len(line) for panel in panels for place in panel.places for line in _folded(place).split("\n")), default=0
    )
    return sum(0 if panel.numeric else len(panel.places) for panel in panels) * (longest * CHARACTER + 0.1) + 0.8


def _lines(axes: Axes, panel: Panel) -> None:
    places = [float(place) for place in panel.places]
    many = len(places) > MANY
    for series in panel.series:
        colour, marker, _ = _look(panel, series)
        axes.plot(
            places, panel.means(series), color=colour, marker="" if many else marker, markersize=3.5, linewidth=1.2,
            label=series,
        )  # fmt: skip
        if ends := panel.band(series):
            axes.fill_between(places, *ends, color=colour, alpha=0.15, linewidth=0)
    if len(panel.series) > 1 and "workload" in panel.rows and panel.rows["workload"].nunique() > 1:
        axes.plot(places, panel.means_of_all(), color=INK, linewidth=2, linestyle=(0, (3, 1.5)), label="all workloads")
    if not many:
        axes.set_xticks(places, panel.places)


def _scatter(axes: Axes, panel: Panel) -> None:
    figure, rows = panel.figure, panel.rows
    for series in panel.series:
        chosen = rows[rows[figure.series].map(text) == series]
        colour, marker, _ = _look(panel, series)
        axes.scatter(chosen[figure.x.column], chosen[figure.y.column], s=16, color=colour, marker=marker, label=series)
    highest = rows.sort_values(figure.y.column).drop_duplicates("workload", keep="last")
    for x, y, name in zip(highest[figure.x.column], highest[figure.y.column], highest["workload"], strict=True):
        axes.annotate(name, (x, y), (3, 3), textcoords="offset points", fontsize=6, color=QUIET)


def _points(axes: Axes, panel: Panel) -> None:
    for series in panel.series:
        colour, marker, _ = _look(panel, series)
        places = range(len(panel.places))
        axes.plot(places, panel.means(series), color=colour, marker=marker, markersize=3, linewidth=0.7, label=series)
    _names(axes, panel)


def _bars(axes: Axes, panel: Panel) -> None:
    width = BAR / len(panel.series)
    for side, series in enumerate(panel.series):
        colour, _, hatch = _look(panel, series)
        bars = axes.bar(
            [place + panel.offset(side) for place in range(len(panel.places))], panel.means(series), width * 0.94,
            color=colour, hatch=hatch, edgecolor="white", linewidth=0.4, label=series or None,
            yerr=_errors(panel, series), error_kw={"ecolor": QUIET, "elinewidth": 0.8, "capsize": 2},
        )  # fmt: skip
        if panel.figure.texts:
            axes.bar_label(bars, panel.texts(series), fontsize=6, padding=2, color=INK, bbox=PAPER)
        elif len(panel.places) * len(panel.series) <= MANY and not panel.figure.spread:
            axes.bar_label(bars, fmt=_number(panel.figure), fontsize=7, padding=1, color=INK)
    _names(axes, panel)


def _errors(panel: Panel, series: str) -> list[float] | list[list[float]] | None:
    """Lengths of error bars: the standard deviation, or below and above the mean to the ends of a band."""
    if panel.figure.spread:
        return [spread(values) for _, values in panel.values(series)]
    if (ends := panel.band(series)) is None:
        return None
    means = panel.means(series)
    below = [max(0.0, mean - low) for mean, low in zip(means, ends[0], strict=True)]
    return [below, [max(0.0, high - mean) for mean, high in zip(means, ends[1], strict=True)]]


def _stacks(axes: Axes, panel: Panel) -> None:
    width = BAR / len(panel.groups)
    for side, group in enumerate(panel.groups):
        places = [place + panel.offset(side) for place in range(len(panel.places))]
        floor = [0.0] * len(places)
        for series in panel.series:
            colour, _, hatch = _look(panel, series)
            heights = [height if height == height else 0.0 for height in panel.means(series, group)]
            axes.bar(
                places, heights, width * 0.94, floor, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4,
                label=series if side == 0 else None,
            )  # fmt: skip
            floor = [low + height for low, height in zip(floor, heights, strict=True)]
    _names(axes, panel)
    if panel.groups != ("",):
        _group_names(axes, panel)


DRAW: dict[Kind, Callable[[Axes, Panel], None]] = {
    "lines": _lines, "scatter": _scatter, "points": _points, "bars": _bars, "stacks": _stacks,
}  # fmt: skip


def _look(panel: Panel, series: str) -> tuple[str, str, str]:
    """Colour, marker and hatch of a series: those of its level if it is named after one, wires hatched."""
    index = panel.series.index(series)
    level = series.split()[0].rstrip(",") if series else ""
    is_level = panel.figure.kind == "stacks" or all(
        name.split()[0].rstrip(",") in LEVEL_COLOURS for name in panel.series if name
    )
    colour = LEVEL_COLOURS.get(level) if is_level else None
    hatch = WIRE_HATCH if series.endswith("wire") else ""
    return colour or SERIES_COLOURS[index % len(SERIES_COLOURS)], SERIES_MARKERS[index % len(SERIES_MARKERS)], hatch


def _number(figure: Figure) -> Callable[[float], str]:
    return (lambda value: f"{100 * value:.1f}") if figure.y.unit == "fraction" else (lambda value: f"{value:.2f}")


def _names(axes: Axes, panel: Panel) -> None:
    places = range(len(panel.places))
    if len(panel.places) > MANY or panel.figure.x.column == "workload":
        axes.set_xticks(places, panel.places, rotation=90, fontsize=5.5 if len(panel.places) > 40 else 7)
    else:
        axes.set_xticks(places, [_folded(place) for place in panel.places])
    axes.set_xlim(-0.6, len(panel.places) - 0.4)
    if MEAN in panel.places:
        axes.axvline(len(panel.places) - 1.5, color=QUIET, linewidth=0.8, linestyle=":")


def _from_zero(axes: Axes, together: Sequence[Axes]) -> None:
    """Start the axis at zero, unless there are negative values."""
    lowest = min(each.dataLim.y0 for each in together)
    axes.set_ylim(bottom=0.0 if lowest >= 0 else None)


def _folded(name: str) -> str:
    return textwrap.fill(name, FOLD, break_on_hyphens=False)


def _group_names(axes: Axes, panel: Panel) -> None:
    places = [place + panel.offset(side) for place in range(len(panel.places)) for side in range(len(panel.groups))]
    axes.xaxis.set_minor_locator(FixedLocator(places))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda _, index: panel.groups[index % len(panel.groups)]))
    axes.xaxis.remove_overlapping_locs = False  # the name of a middle bar overlaps that of its place
    axes.tick_params(axis="x", which="minor", length=0, labelsize=6, labelrotation=90, pad=2)
    axes.tick_params(axis="x", which="major", pad=8 + 4 * max(map(len, panel.groups)))


def _axes(axes: Axes, panel: Panel) -> None:
    figure = panel.figure
    if panel.title:
        axes.set_title(panel.title, fontsize=9, fontweight="normal")
    if figure.x.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
    if figure.y.unit == "fraction":
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    horizontal_grid(axes)


def _legend(drawn: Picture, panels: Sequence[Axes], title: str) -> None:
    """Draw one legend for all panels, printed values last, in as many columns as fit the width."""
    handles: dict[str, Any] = {}
    for axes in panels:
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True)) | handles
    if not handles:
        return
    handles = {label: handles[label] for label in sorted(handles, key=PRINTED.__eq__)}
    columns = max(1, int(drawn.get_figwidth() / (max(map(len, handles)) * CHARACTER + KEY)))
    drawn.legend(
        handles.values(), handles, loc="outside lower center", ncols=min(len(handles), columns), title=title,
        title_fontsize=8,
    )  # fmt: skip
