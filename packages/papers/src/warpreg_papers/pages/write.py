"""Write the pages of reproduced papers, their pictures and their results, and the page that sums them up.

Under the given folder, ``reference/reproduction-PAPER.md`` is the page of a paper, ``reference/reproduction.md`` that
of all; ``images/reproduction`` contains the pictures and ``reference/reproduction`` the results as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from warpreg.ir.errors import WarpregError
from warpreg.report.charts import picture
from warpreg.report.figure import Figure
from warpreg.report.figures import save_drawing
from warpreg.trace.files import whole
from warpreg_papers import published
from warpreg_papers.complete import PaperReport
from warpreg_papers.pages.overview import overview
from warpreg_papers.pages.page import page
from warpreg_papers.reproduction import PAPERS, figures_of


class PageError(WarpregError):
    """Files that are no valid input of a page."""


def write_page(report: PaperReport, folder: Path) -> Path:
    """Write the page of a paper, with its pictures and results; returns the path of the page."""
    return _write_page(
        report, [_draw(report.paper, figure, frame, folder) for figure, frame in report.frames if len(frame)], folder
    )


def rewrite_page(report: PaperReport, folder: Path) -> Path:
    """Write the page of a paper and its results, with the pictures of the folder; returns the path of the page."""
    paths = ((figure, _picture(report.paper, figure)) for figure in figures_of(report.paper))
    pictures = [(figure, _from_page(path)) for figure, path in paths if (folder / path).is_file()]
    return _write_page(report, pictures, folder)


def read_page(paper: str, folder: Path) -> PaperReport:
    """The results of a paper's page in a folder; raises PageError if it has none."""
    path = _results(paper, folder)
    if not path.is_file():
        raise PageError(f"{path}: expected results that warpreg reproduce {paper} --pages wrote, found none")
    try:
        return PaperReport.of(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, LookupError, TypeError) as error:
        raise PageError(f"{path}: expected results that warpreg reproduce --pages wrote, found {error}") from error


def _write_page(report: PaperReport, pictures: list[tuple[Figure, str]], folder: Path) -> Path:
    results = _results(report.paper, folder)
    results.parent.mkdir(parents=True, exist_ok=True)
    _write(results, json.dumps(report.as_dict(), indent=1) + "\n")
    return _write(folder / "reference" / f"reproduction-{report.paper}.md", "\n".join(page(report, pictures)))


def write_overview(folder: Path) -> Path:
    """Write the page over all papers whose results are in the folder; returns its path."""
    return _write(folder / "reference" / "reproduction.md", "\n".join([*overview(list(_saved(folder))), ""]))


def _saved(folder: Path) -> Iterator[PaperReport]:
    """The results in a folder, in the order of `PAPERS`; raises PageError for a file that is no such result."""
    for paper in PAPERS:
        if _results(paper, folder).is_file():
            yield read_page(paper, folder)


def _results(paper: str, folder: Path) -> Path:
    return folder / "reference" / "reproduction" / f"{paper}.json"


def _write(path: Path, text: str) -> Path:
    with whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path


def _draw(paper: str, figure: Figure, frame: pd.DataFrame, folder: Path) -> tuple[Figure, str]:
    printed = {result.id: result for result in published.results(paper)}
    path = _picture(paper, figure)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    save_drawing(picture(figure, frame, printed), folder / path)
    return figure, _from_page(path)


def _picture(paper: str, figure: Figure) -> Path:
    """The picture of a figure, from the folder on."""
    return Path("images") / "reproduction" / f"{paper}-{figure.name}.svg"


def _from_page(path: Path) -> str:
    """A path from the folder on, from a page on."""
    return (Path("..") / path).as_posix()
