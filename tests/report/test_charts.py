"""Figures of papers: the drawn values are means of the frame, printed values are marked, and files can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Rectangle

from warpreg.ir.errors import UnknownNameError
from warpreg.report.charts import picture
from warpreg.report.figure import Axis, Figure, Mark
from warpreg.report.figure import Kind as FigureKind
from warpreg.report.marks import bounds
from warpreg_papers import published
from warpreg_papers.figure_files import write_frame
from warpreg_papers.published import Published
from warpreg_papers.reproduction import PAPERS, figures_of

FRAME = pd.DataFrame(
    [
        {"workload": name, "entries": entries, "design": design, "level": level, "energy": value}
        for name, factor in (("bfs", 1.0), ("fft", 4.0))
        for design, scale in (("HW", 0.1), ("SW", 0.05))
        for entries in (10, 2)
        for level, value in (("MRF", factor * scale), ("ORF", factor * scale * 2))
    ]
)
PRINTED = {
    "saving": Published("saving", "p", "§1", "energy saved", value=0.25),
    "range": Published("range", "p", "§1", "energy saved", range=(0.2, 0.4)),
    "words": Published("words", "p", "§1", "which is better", text="SW"),
}


def figure(kind: FigureKind, x: str = "entries", **options: Any) -> Figure:
    return Figure("f", "Figure 1", "Energy", lambda study: FRAME, kind, Axis(x, x), Axis("energy", "energy"), **options)


def drawn(declared: Figure) -> list[Axes]:
    return picture(declared, FRAME, PRINTED).axes


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def heights(axes: Axes) -> list[float]:
    return [round(patch.get_height(), 6) for patch in bars(axes)]


def test_a_band_goes_from_the_mean_of_the_low_ends_to_that_of_the_high_ends() -> None:
    """HW: the mean is 0.375; the ends are a tenth below and a fifth above each value."""
    frame = FRAME.assign(low=FRAME["energy"] * 0.9, high=FRAME["energy"] * 1.2)
    (axes,) = picture(figure("bars", series="design"), frame, PRINTED).axes
    (first, *_), *_ = [lines.get_segments() for lines in axes.collections if isinstance(lines, LineCollection)]
    assert first[:, 1].tolist() == pytest.approx([0.375 * 0.9, 0.375 * 1.2])
    (shaded, *_) = picture(figure("lines", series="design"), frame, PRINTED).axes
    (shade, _) = [one for one in shaded.collections if isinstance(one, PolyCollection)]
    ends = shade.get_paths()[0].get_extents()
    assert (ends.y0, ends.y1) == pytest.approx((0.375 * 0.9, 0.375 * 1.2))


def test_values_without_a_band_have_no_error_bars() -> None:
    (axes,) = drawn(figure("bars", series="design"))
    assert not [lines for lines in axes.collections if isinstance(lines, LineCollection)]


def test_bars_are_means_of_the_rows_at_a_place_and_places_are_in_order() -> None:
    """HW at either size: the mean of 0.1, 0.2, 0.4 and 0.8 is 0.375; SW has half of it."""
    (axes,) = drawn(figure("bars", series="design"))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "10"]
    assert heights(axes) == [0.375, 0.375, 0.1875, 0.1875]


def test_stacks_lie_on_each_other_and_groups_side_by_side() -> None:
    (axes,) = drawn(figure("stacks", series="level", groups="design"))
    assert heights(axes) == [0.25, 0.25, 0.5, 0.5, 0.125, 0.125, 0.25, 0.25]
    assert [round(patch.get_y(), 6) for patch in bars(axes)[:4]] == [0, 0, 0.25, 0.25]
    assert bars(axes)[0].get_x() < bars(axes)[4].get_x() < bars(axes)[1].get_x()


@pytest.mark.parametrize(("mean", "last"), [("arithmetic", 0.28125), ("geometric", 0.2)])
def test_workloads_end_with_their_mean(mean: str, last: float) -> None:
    """In units of 0.05: 1, 2, 2, 4 of bfs and 4, 8, 8, 16 of fft, whose mean exponent of two is 2."""
    (axes,) = drawn(figure("bars", "workload", mean=mean))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["bfs", "fft", "mean"]
    assert bars(axes)[-1].get_height() == pytest.approx(last, abs=1e-3)


def test_panels_share_colours_and_say_what_they_show() -> None:
    first, second = drawn(figure("lines", series="level", panels="design"))
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["HW", "SW"]
    assert [line.get_color() for line in first.lines] == [line.get_color() for line in second.lines]
    assert np.asarray(first.lines[0].get_xdata()).tolist() == [2, 10]
    assert first.lines[0].get_ydata() == pytest.approx([0.25, 0.25])


def test_panels_side_by_side_share_an_axis_from_zero_that_holds_all_of_them() -> None:
    first, second = drawn(figure("lines", series="level", panels="design"))
    assert first.get_ylim() == second.get_ylim()
    low, high = first.get_ylim()
    assert low == 0
    assert high > 0.5


def test_many_places_of_lines_are_not_all_named_and_may_be_logarithmic() -> None:
    frame = pd.DataFrame({"cycles": [4.0 * n + 1 for n in range(40)], "reads": [1 / (n + 1) for n in range(40)]})
    declared = Figure(
        "f", "Figure 12", "Ages", lambda study: frame, "lines", Axis("cycles", "", logarithmic=True), Axis("reads", ""),
    )  # fmt: skip
    (axes,) = picture(declared, frame, {}).axes
    assert axes.get_xscale() == "log"
    assert np.size(axes.lines[0].get_xdata()) == 40 > len(axes.get_xticks())


def test_printed_values_stand_at_their_bars() -> None:
    """A saving of 0.25 leaves 0.75; the mark of SW at size 10 is over its bar."""
    (axes,) = drawn(figure("bars", series="design", marks=(Mark("saving", 10, "SW", left=True),)))
    (mark,) = axes.lines
    bar = bars(axes)[3]
    assert np.asarray(mark.get_ydata()).tolist() == [0.75]
    assert bar.get_x() < np.asarray(mark.get_xdata())[0] < bar.get_x() + bar.get_width()


def test_a_printed_value_without_a_place_is_a_line_and_one_elsewhere_is_not_drawn() -> None:
    marks = (Mark("saving"), Mark("saving", 99), Mark("saving", 2, panel="other"))
    (axes,) = drawn(figure("bars", series="design", marks=marks))
    assert [np.asarray(line.get_ydata()).tolist() for line in axes.lines] == [[0.25, 0.25]]
    (axes,) = drawn(figure("bars", series="design", marks=(Mark("saving", upright=True),)))
    assert [np.asarray(line.get_xdata()).tolist() for line in axes.lines] == [[0.25, 0.25]]


def test_a_printed_range_has_two_ends_and_words_have_none() -> None:
    assert bounds(Mark("range", left=True), PRINTED["range"]) == pytest.approx((0.6, 0.8))
    with pytest.raises(ValueError, match="words prints no number"):
        bounds(Mark("words"), PRINTED["words"])


def read_frame(figure: Figure, path: Path) -> pd.DataFrame:
    """A frame written by `write_frame`."""
    columns = {heading: column for column, heading in figure.headings.items()}
    return pd.read_csv(path, keep_default_na=False, na_values=[""]).rename(columns=columns)


def test_a_frame_that_was_written_is_read_back_with_its_units_in_the_headings(tmp_path: Path) -> None:
    declared = Figure(
        "f", "Figure 1", "Energy", lambda study: FRAME, "bars", Axis("entries", "", "registers"),
        Axis("energy", "", "ratio"),
    )  # fmt: skip
    path = write_frame(declared, FRAME, tmp_path / "f.csv")
    assert path.read_text().splitlines()[0] == "workload,entries [registers],design,level,energy [ratio]"
    pd.testing.assert_frame_equal(read_frame(declared, path), FRAME)


@pytest.mark.parametrize("paper", PAPERS)
def test_figures_are_named_once_and_mark_printed_numbers(paper: str) -> None:
    printed = {result.id: result for result in published.results(paper)}
    declared = figures_of(paper)
    assert len({one.name for one in declared}) == len(declared)
    for mark in (mark for one in declared for mark in one.marks):
        low, high = bounds(mark, printed[mark.result])
        assert low <= high


def test_a_paper_without_figures_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="orf-lrf"):
        figures_of("orf-lfr")
