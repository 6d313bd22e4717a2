"""The demo figure: titles of panels match their data, and equal results give equal bytes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.row import LevelUse, Provenance, Row
from warpreg.report.figures import demo_figure, save

PROVENANCE = Provenance("k", "machine", "m", "technology", "t", "d", "code", {})
BASELINE = LevelUse(100, 50, 1000, 1000)


def row(workload: str, entries: int) -> Row:
    """A cache whose energy falls by a tenth of the MRF's with each entry."""
    levels = {
        "MRF": LevelUse(100 - 10 * entries, 50 - 5 * entries, 1000 - 100 * entries, 1000 - 100 * entries),
        "RFC": LevelUse(10 * entries, 50, 0, 0),
    }
    return Row(workload, "rfc", {"entries": entries}, 100, levels, BASELINE, PROVENANCE)


def figure() -> Figure:
    sweep = {entries: [row("bfs", entries), row("vector-add", entries)] for entries in (1, 2, 3)}
    return demo_figure(sweep[3], sweep, "the caption")


def test_the_bars_are_the_rows() -> None:
    elided, energy, _ = figure().axes
    heights = [round(patch.get_height(), 6) for patch in elided.patches if isinstance(patch, Rectangle)]
    assert heights == [0.3] * 6
    tops = [text.get_text() for text in energy.texts]
    assert tops == ["0.70", "0.70", "0.70"]


def test_added_tables_and_logic_are_pieces_of_the_bars() -> None:
    """An MRF of 0.7, and of 2000 pJ of the baseline 200 pJ for a table and 300 pJ for logic."""
    parts = (
        Part("MRF", True, 0, 0, 0.0, None),
        Part("renaming", False, 0, 0, 200.0, None),
        Part("coalescing", False, 0, 0, 300.0, None),
    )
    rows = [dataclasses.replace(row("bfs", 3), parts=parts)]
    energy = demo_figure(rows, {3: rows}, "the caption").axes[1]
    bars = [patch for patch in energy.patches if isinstance(patch, Rectangle)]
    of_workload = [round(patch.get_height(), 6) for patch in bars if patch.get_x() < 0]
    assert of_workload == [0.35, 0.35, 0.0, 0.0, 0.1, 0.15]
    assert [text.get_text() for text in energy.texts] == ["0.95", "0.95"]
    legend = energy.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][-2:] == ["renaming", "coalescing"]


def test_the_sweep_is_the_geometric_mean_by_entries() -> None:
    line = figure().axes[2].lines[0]
    assert np.asarray(line.get_xdata()).tolist() == [1, 2, 3]
    assert [round(float(y), 6) for y in np.asarray(line.get_ydata())] == [0.9, 0.8, 0.7]


def test_every_panel_labels_its_axis_and_has_a_title() -> None:
    for axes in figure().axes:
        assert axes.get_ylabel()
        assert axes.get_title(loc="left")


@pytest.mark.slow
def test_the_same_rows_give_the_same_files(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in save(figure(), tmp_path / "a" / "rfc")]
    second = [path.read_bytes() for path in save(figure(), tmp_path / "b" / "rfc")]
    assert first == second
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["rfc.png", "rfc.svg"]
