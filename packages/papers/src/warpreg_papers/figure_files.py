"""The figures of a paper as files: for each a picture (SVG and PNG) and its data frame (CSV)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from warpreg.evaluation.studies.study import Study
from warpreg.report.charts import picture
from warpreg.report.figure import Figure
from warpreg.report.figures import save
from warpreg.trace.files import whole
from warpreg_papers import published
from warpreg_papers.reproduction import figures_of


def write_figures(paper: str, study: Study, folder: Path) -> Iterator[Path]:
    """Write every figure of a paper, as ``folder/<paper>-<figure>``; yields each file."""
    for figure in figures_of(paper):
        frame = figure.frame(study)
        yield write_frame(figure, frame, frame_path(paper, figure, folder))
        if len(frame):
            yield from draw(paper, figure, frame, folder)


def draw(paper: str, figure: Figure, frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw one figure; returns the files."""
    printed = {result.id: result for result in published.results(paper)}
    return save(picture(figure, frame, printed), frame_path(paper, figure, folder))


def frame_path(paper: str, figure: Figure, folder: Path) -> Path:
    """The path of the data frame of a figure."""
    return folder / f"{paper}-{figure.name}.csv"


def write_frame(figure: Figure, frame: pd.DataFrame, path: Path) -> Path:
    """Write the frame as CSV, with units in its headings; returns the path."""
    with whole(path) as unfinished:
        frame.rename(columns=figure.headings).to_csv(unfinished, index=False, float_format="%.6g")
    return path
