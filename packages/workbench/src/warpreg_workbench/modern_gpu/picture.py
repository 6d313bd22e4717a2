"""The picture of the study: energy by level, and how far it depends on what is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warpreg.report.style import BLUE, GREEN, GRID, INK, ORANGE, PURPLE, QUIET, SERIES_COLOURS, SERIES_MARKERS, style
from warpreg_workbench.modern_gpu.design_figures import CASES, Case, DesignFigures, base_of, figures, rows_of
from warpreg_workbench.modern_gpu.study import COLLECTORS, DesignMeasurement

PARTS = {"MRF": BLUE, "reuse cache": ORANGE, "own levels": GREEN, "tables and logic": PURPLE}
BESIDE = "dynamic energy, of that of the reuse cache alone"
BAR = 0.62
MARGIN = 0.7
SPREAD = 0.7
"""Of the distance of two designs: a bar, the space at both ends, and how far the cases of a design are apart."""


def picture(measurements: Sequence[DesignMeasurement]) -> Figure:
    """Left: energy of each design by level, of that of the reuse cache alone.  Right: its energy in every case."""
    shown = figures(measurements, CASES[0])[::-1]
    with style():
        drawn = Figure(figsize=(9.5, 1.1 + 0.3 * len(shown)), layout="constrained")
        left, right = drawn.subplots(1, 2, sharey=True)
        _by_level(left, measurements, shown)
        _by_case(right, measurements, shown)
        left.set_xlabel(BESIDE, color=QUIET)
        right.set_xlabel(f"dynamic energy, of that of reuse alone ({COLLECTORS.machine}: of the MRF)", color=QUIET)
        left.set_yticks(range(len(shown)), [one.design for one in shown])
        left.set_ylim(-MARGIN, len(shown) - 1 + MARGIN)
        drawn.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=2, fontsize=7)
        drawn.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=4, fontsize=7)
    return drawn


def _by_level(axes: Axes, found: Sequence[DesignMeasurement], shown: Sequence[DesignFigures]) -> None:
    for place, one in enumerate(shown):
        begin, shares = 0.0, parts(found, CASES[0], one.design)
        for name, colour in PARTS.items():
            width = shares[name] * one.energy
            axes.barh(place, width, BAR, left=begin, color=colour, label=name if place == 0 else None)
            begin += width
    axes.set_title("Energy by level")
    _look(axes)


def _by_case(axes: Axes, found: Sequence[DesignMeasurement], shown: Sequence[DesignFigures]) -> None:
    """The first case of a design stands above the others, so that equal energies do not hide each other."""
    for number, case in enumerate(CASES):
        by_name = {one.design: one.energy for one in figures(found, case)}
        raised = SPREAD * (0.5 - number / (len(CASES) - 1))
        points = [(by_name[one.design], place + raised) for place, one in enumerate(shown) if one.design in by_name]
        if points:
            x, y = zip(*points, strict=True)
            colour, marker = SERIES_COLOURS[number], SERIES_MARKERS[number]
            axes.scatter(x, y, s=12, color=colour, marker=marker, label=case.name, linewidths=0, zorder=3)
    axes.set_title("Energy in each case")
    _look(axes)


def _look(axes: Axes) -> None:
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlim(left=0.0)


def parts(found: Sequence[DesignMeasurement], case: Case, design: str) -> Mapping[str, float]:
    """Mean shares of a design's energy, by part."""
    rows = list(rows_of(found, case, design).values())
    assert rows, base_of(case)
    shares = [_shares(row) for row in rows]
    return {name: sum(one[name] for one in shares) / len(shares) for name in PARTS}


def _shares(row: Mapping[str, Any]) -> dict[str, float]:
    levels: dict[str, float] = {}
    for key, value in row.items():
        for end in ("_access_normalized", "_wire_normalized"):
            if key.endswith(end):
                levels[key.removesuffix(end)] = levels.get(key.removesuffix(end), 0.0) + value
    whole = row["energy_normalized"]
    mrf, reuse = levels.pop("mrf", 0.0) / whole, levels.pop("reuse", 0.0) / whole
    own = sum(levels.values()) / whole
    return {"MRF": mrf, "reuse cache": reuse, "own levels": own, "tables and logic": 1 - mrf - reuse - own}
