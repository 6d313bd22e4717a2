"""The style of every figure: colours that colour-blind readers can distinguish, light axes, units on every label."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes

INK, QUIET, GRID = "#222222", "#6b6b6b", "#dddddd"
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#F0E442",
)  # fmt: skip
"""The palette of Okabe and Ito (2008), distinguishable with any common colour vision deficiency."""

OLIVE = "#8A7500"
"""For an eighth series: the palette's yellow is too pale for a thin line."""

LEVEL_COLOURS = {"MRF": BLUE, "RFC": ORANGE, "ORF": GREEN, "LRF": PURPLE, "RC": ORANGE, "RSP": GREEN}
SERIES_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, INK, OLIVE, QUIET)
SERIES_MARKERS = "os^Dv<>pX"
"""Markers of lines and points."""

SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "warpreg",
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the settings of the figures inside the block."""
    with matplotlib.rc_context(SETTINGS):
        yield


def horizontal_grid(axes: Axes) -> None:
    """Draw light horizontal grid lines behind the data."""
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.tick_params(axis="x", length=0)
