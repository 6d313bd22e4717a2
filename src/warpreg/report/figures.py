"""The figure of ``warpreg demo``: savings of a register file cache on each workload, and the effect of its size."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from warpreg.evaluation.runs.row import Row, geometric_mean
from warpreg.ir.errors import WarpregError
from warpreg.report.style import (
    BLUE,
    GREEN,
    INK,
    LEVEL_COLOURS,
    QUIET,
    SKY,
    VERMILION,
    YELLOW,
    horizontal_grid,
    style,
)
from warpreg.trace.files import whole


class PictureError(WarpregError):
    """A picture in a format that is not drawn."""


BAR = 0.62
WIRE_HATCH = "/////"
ADDED_HATCH = "....."
LEGEND_COLUMNS = 4
ADDED_COLOURS = (VERMILION, SKY, YELLOW)
"""Of tables and logic that a design adds."""
METADATA: Mapping[str, Any] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""What is left out of pictures, by their suffix, so that equal figures have equal bytes."""
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


def demo_figure(rows: Sequence[Row], sweep: Mapping[int, Sequence[Row]], caption: str) -> Figure:
    """Three panels: MRF accesses elided, energy normalized to the plain MRF, and energy by entries of the cache.

    ``rows`` has one row per workload under one design; ``sweep`` contains such rows by entries per thread; ``caption``
    is the line of provenance at the bottom.
    """
    with style():
        figure = Figure(figsize=(10, 6.6), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(2, 3)
        _elided(figure.add_subplot(grid[0, :]), rows)
        _energy(figure.add_subplot(grid[1, :2]), rows)
        _sweep(figure.add_subplot(grid[1, 2]), sweep)
        figure.supxlabel(caption, fontsize=7, color=QUIET, x=0.005, ha="left")
    return figure


def save(figure: Figure, path: Path) -> list[Path]:
    """Write ``figure`` beside ``path`` as PNG (200 dpi) and SVG, without dates; returns both paths."""
    image, drawing = path.with_suffix(".png"), path.with_suffix(".svg")
    with style(), whole(image) as unfinished:
        figure.savefig(unfinished, format="png", dpi=200, metadata={"Software": None})
    return [image, save_drawing(figure, drawing)]


def save_as(figure: Figure, path: Path) -> Path:
    """Write ``figure`` in the format of the path's suffix, without a date.  Raises PictureError for other formats."""
    if path.suffix not in METADATA:
        raise PictureError(f"{path}: expected a file name that ends in {', '.join(METADATA)}")
    with style(), whole(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:], dpi=200, metadata=METADATA[path.suffix])
    return path


def save_drawing(figure: Figure, path: Path) -> Path:
    """Write ``figure`` as SVG, without a date; returns the path."""
    with style(), whole(path) as unfinished:
        figure.savefig(unfinished, format="svg", metadata={"Date": None})
    return path


def _elided(axes: Axes, rows: Sequence[Row]) -> None:
    width = BAR / 2
    series = (
        ("reads", BLUE, [row.reads_elided for row in rows]),
        ("writes, write-backs included", SKY, [row.writes_elided for row in rows]),
    )
    for position, (label, colour, values) in enumerate(series):
        places = [place + (position - 0.5) * width for place in range(len(rows) + 1)]
        bars = axes.bar(places, [*values, statistics.fmean(values)], width * 0.94, color=colour, label=label)
        axes.bar_label(bars, fmt=lambda value: f"{100 * value:.0f}", fontsize=7, padding=1, color=INK)
    axes.axhline(0, color=QUIET, linewidth=0.8)
    axes.margins(y=0.12)
    axes.set_title(f"MRF accesses elided by {rows[0].label}")
    axes.set_ylabel("of the plain MRF's accesses")
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.99))
    _workload_axis(axes, rows, "mean")


def _energy(axes: Axes, rows: Sequence[Row]) -> None:
    pieces = _pieces(rows)
    floor = [0.0] * (len(rows) + 1)
    mean = geometric_mean(row.energy for row in rows)
    for piece in pieces:
        shares = [pj / row.baseline.total_pj for pj, row in zip(piece.pj, rows, strict=True)]
        shares.append(math.fsum(shares) / math.fsum(row.energy for row in rows) * mean)
        look: dict[str, Any] = {"color": piece.colour, "hatch": piece.hatch, "edgecolor": "white", "linewidth": 0.4}
        axes.bar(range(len(floor)), shares, BAR, floor, **look)
        floor = [low + share for low, share in zip(floor, shares, strict=True)]
    for place, top in enumerate(floor):
        axes.text(place, top + 0.015, f"{top:.2f}", ha="center", fontsize=7.5, bbox=PAPER)
    _plain_line(axes)
    axes.set_ylim(0, max(1.12, *floor) + (0.05 if len(pieces) <= LEGEND_COLUMNS else 0.13))
    axes.set_title(f"Register file energy under {rows[0].label}")
    axes.set_ylabel("energy / energy of the plain MRF")
    _energy_legend(axes, pieces)
    _workload_axis(axes, rows, "geometric\nmean")


@dataclass(frozen=True, slots=True)
class _Piece:
    """One piece of the energy bars: energy in pJ by row."""

    label: str
    colour: str
    hatch: str
    pj: Sequence[float]


def _pieces(rows: Sequence[Row]) -> list[_Piece]:
    """Arrays and wires of each level, then each table and piece of logic that the design adds."""
    pieces = []
    for name in dict.fromkeys(name for row in rows for name in row.levels):
        colour = LEVEL_COLOURS.get(name, GREEN)
        used = [row.levels[name] for row in rows]
        pieces.append(_Piece(f"{name} arrays", colour, "", [one.access_pj for one in used]))
        pieces.append(_Piece(f"{name} wires", colour, WIRE_HATCH, [one.wire_pj for one in used]))
    added = [{part.name: part.dynamic_pj or 0.0 for part in row.added} for row in rows]
    names = dict.fromkeys(name for each in added for name in each)
    for name, colour in zip(names, itertools.cycle(ADDED_COLOURS), strict=False):
        pieces.append(_Piece(name, colour, ADDED_HATCH, [each.get(name, 0.0) for each in added]))
    return pieces


def _energy_legend(axes: Axes, pieces: Sequence[_Piece]) -> None:
    handles = [Patch(**_legend_look(piece), label=piece.label) for piece in pieces]
    axes.legend(
        handles=handles, ncols=min(len(handles), LEGEND_COLUMNS), loc="upper left", columnspacing=1.2, handlelength=1.4
    )


def _legend_look(piece: _Piece) -> dict[str, Any]:
    hatch = {"hatch": piece.hatch, "edgecolor": "white"} if piece.hatch else {}
    return {"facecolor": piece.colour, **hatch}


def _sweep(axes: Axes, sweep: Mapping[int, Sequence[Row]]) -> None:
    entries = sorted(sweep)
    energies = [[row.energy for row in sweep[entry]] for entry in entries]
    means = [geometric_mean(values) for values in energies]
    axes.fill_between(
        entries, [min(v) for v in energies], [max(v) for v in energies], color=LEVEL_COLOURS["RFC"], alpha=0.25,
        linewidth=0, label="best to worst workload",
    )  # fmt: skip
    axes.plot(entries, means, color=BLUE, marker="o", markersize=4, label="geometric mean")
    best = min(range(len(entries)), key=means.__getitem__)
    axes.annotate(
        f"{means[best]:.2f}", (entries[best], means[best]), (0, -12), textcoords="offset points", ha="center",
        fontsize=8, color=BLUE,
    )  # fmt: skip
    _plain_line(axes)
    axes.set_xticks(entries)
    axes.set_ylim(0, max(1.12, *(max(v) for v in energies)) + 0.05)
    axes.set_title("Energy against size")
    axes.set_xlabel("RFC entries per thread")
    axes.set_ylabel("energy / energy of the plain MRF")
    axes.legend(loc="lower left")
    horizontal_grid(axes)


def _plain_line(axes: Axes) -> None:
    axes.axhline(1, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1.5)


def _workload_axis(axes: Axes, rows: Sequence[Row], mean: str) -> None:
    axes.set_xticks(range(len(rows) + 1), [*(row.workload.replace("-", "\n") for row in rows), mean])
    axes.set_xlim(-0.5, len(rows) + 0.5)
    axes.axvline(len(rows) - 0.5, color=QUIET, linewidth=0.8, linestyle=":")
    horizontal_grid(axes)
