"""Reproductions of papers in a report: every printed result beside the measured value, from saved measurements."""

from __future__ import annotations

from typing import Any

from warpreg.experiments.papers.reproduction import reproduced, saved_measurements, summed
from warpreg.ir.errors import WarpregError
from warpreg.report.reproduction_page import TITLES


class NothingSavedError(WarpregError):
    """A paper of which no measurement is saved."""


def reproduction(paper: str, size: str) -> dict[str, Any]:
    """The results of a paper.  Raises UnknownNameError, and NothingSavedError if none has been measured."""
    found = saved_measurements(paper, size)
    saved = sum(map(len, found.found.values()))
    wanted = saved + sum(map(len, found.left_out.values()))
    if not saved:
        raise NothingSavedError(
            f"{paper}: no measurement of size {size} is saved; run 'warpreg reproduce {paper} --size {size}' first"
        )
    rows = [one.as_dict() for one in reproduced(paper, found)]
    return {
        "paper": paper,
        "title": TITLES.get(paper, paper),
        "size": size,
        "summary": str(summed(paper, rows)),
        "saved": saved,
        "wanted": wanted,
        "results": rows,
    }
