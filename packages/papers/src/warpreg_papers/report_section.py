"""Reproductions of papers in a report: every printed result beside the measured value, from saved measurements.  The
ablation that tests the cause of a difference gives its verdict, if it has been measured.
"""

from __future__ import annotations

from typing import Any

from warpreg.ir.errors import WarpregError
from warpreg_papers.pages.page import TITLES
from warpreg_papers.reproduction import reproduced, saved_measurements
from warpreg_papers.shown import AblationResult, saved_verdicts
from warpreg_papers.summary import summed


class NothingSavedError(WarpregError):
    """A paper of which no measurement is saved."""


def reproduction(paper: str, size: str) -> dict[str, Any]:
    """The results of a paper.  Raises UnknownNameError, and NothingSavedError if none has been measured."""
    study = saved_measurements(paper, size)
    saved = sum(map(len, study.found.values()))
    wanted = saved + sum(map(len, study.left_out.values()))
    if not saved:
        raise NothingSavedError(
            f"{paper}: no measurement of size {size} is saved; run 'warpreg reproduce {paper} --size {size}' first"
        )
    verdicts = {one.published.id: one for one in saved_verdicts(paper, study)}
    rows = [one.as_dict() | _verdict(verdicts.get(one.published.id)) for one in reproduced(paper, study)]
    return {
        "paper": paper,
        "title": TITLES.get(paper, paper),
        "size": size,
        "summary": str(summed(paper, rows)),
        "saved": saved,
        "wanted": wanted,
        "results": rows,
    }


def _verdict(shown: AblationResult | None) -> dict[str, Any]:
    """What an ablation says of the cause of a result: its title, the value without the cause, the verdict."""
    if shown is None:
        return {}
    return {"ablation": shown.title, "ablated": shown.ablated, "share": shown.share, "verdict": shown.verdict}
