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
from warpreg.report.files import whole
from warpreg_papers import published
from warpreg_papers.complete import Complete
from warpreg_papers.pages.overview import overview
from warpreg_papers.pages.page import page
from warpreg_papers.reproduction import PAPERS


class PageError(WarpregError):
    """Files that are no valid input of a page."""


def write_page(found: Complete, folder: Path) -> Path:
    """Write the page of a paper, with its pictures and results; returns the path of the page."""
    pictures = [_draw(found.paper, figure, frame, folder) for figure, frame in found.frames if len(frame)]
    results = _results(found.paper, folder)
    results.parent.mkdir(parents=True, exist_ok=True)
    _write(results, json.dumps(found.as_dict(), indent=1) + "\n")
    return _write(folder / "reference" / f"reproduction-{found.paper}.md", "\n".join(page(found, pictures)))


def write_overview(folder: Path) -> Path:
    """Write the page over all papers whose results are in the folder; returns its path."""
    return _write(folder / "reference" / "reproduction.md", "\n".join([*overview(list(_saved(folder))), ""]))


def _saved(folder: Path) -> Iterator[Complete]:
    """The results in a folder, in the order of `PAPERS`; raises PageError for a file that is no such result."""
    for paper in PAPERS:
        path = _results(paper, folder)
        if not path.is_file():
            continue
        try:
            yield Complete.of(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, LookupError, TypeError) as error:
            raise PageError(f"{path}: expected results that warpreg reproduce --pages wrote, found {error}") from error


def _results(paper: str, folder: Path) -> Path:
    return folder / "reference" / "reproduction" / f"{paper}.json"


def _write(path: Path, text: str) -> Path:
    with whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path


def _draw(paper: str, figure: Figure, frame: pd.DataFrame, folder: Path) -> tuple[Figure, str]:
    printed = {result.id: result for result in published.results(paper)}
    path = Path("images") / "reproduction" / f"{paper}-{figure.name}.svg"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    save_drawing(picture(figure, frame, printed), folder / path)
    return figure, (Path("..") / path).as_posix()
