"""Everything about a paper in one measurement: its results, the ablations of their causes, its codes, its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from warpreg.report.figure import Figure
from warpreg_papers.by_code import as_dict, by_code
from warpreg_papers.reproduction import (
    codes_of,
    explained,
    figures_of,
    lessons_of,
    measure,
    paper_module,
    reproduced,
)
from warpreg_papers.shown import shown, under_ablation, workloads_under

Row = Mapping[str, Any]
Codes = Mapping[str, Any]
"""Codes of a paper by name, and the results on each, as ``warpreg reproduce PAPER --code all --json`` prints them."""
NO_CODES: Codes = {"codes": {}, "results": []}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class PaperReport:
    """``workloads``: how many were measured.  ``rows``: results as in `ReproducedResult.as_dict`; ``ablated``: as in
    `AblationResult.as_dict`; ``lessons``: what a designer learns; ``frames``: the data of each figure, not part of
    the file.
    """

    paper: str
    size: str
    workloads: int
    rows: Sequence[Row]
    ablated: Sequence[Row] = ()
    codes: Codes = field(default_factory=lambda: NO_CODES)
    lessons: Sequence[str] = ()
    frames: Sequence[tuple[Figure, pd.DataFrame]] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "paper": self.paper,
            "size": self.size,
            "workloads": self.workloads,
            "results": list(self.rows),
            "ablations": list(self.ablated),
            "codes": self.codes,
            "lessons": list(self.lessons),
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> PaperReport:
        """From JSON, without figures."""
        return cls(
            saved["paper"],
            saved["size"],
            saved["workloads"],
            saved["results"],
            saved["ablations"],
            saved["codes"],
            saved["lessons"],
        )


def steps_of(paper: str) -> int:
    """Runs of workloads that `complete` reports as progress.  Raises UnknownNameError."""
    workloads, codes = len(paper_module(paper).WORKLOADS), len(codes_of(paper))
    ablations = sum(len(workloads_under(paper, name)) for name in explained(paper).ABLATIONS)
    return workloads * (1 + (codes if codes > 1 else 0)) + ablations


def complete(
    paper: str, size: str, processes: int | None = None, progress: Progress = lambda step: None
) -> PaperReport:
    """Measure everything about a paper; measurements are saved, so that an interrupted run resumes.

    An ablation is measured if a result outside its tolerance needs it.  ``progress`` is called after each run of a
    workload, with the name of the step.  Raises UnknownNameError.
    """

    def named(step: str) -> Progress:
        return lambda workload: progress(f"{paper}, {step}: {workload}")

    study = measure(paper, size, processes=processes, progress=named("results"), keep=True)
    rows: list[Row] = [{"paper": paper, **one.as_dict(), "left_out": study.reasons} for one in reproduced(paper, study)]
    needed = _needed(paper, rows)
    ablated: list[Row] = []
    for name in explained(paper).ABLATIONS:
        if name not in needed:
            for workload in workloads_under(paper, name):
                progress(f"{paper}, ablation {name} is not needed: {workload}")
            continue
        other = under_ablation(paper, name, study, (), processes, named(f"ablation {name}"), keep=True)
        ablated += [one.as_dict() for one in shown(paper, name, study, other)]
    return PaperReport(
        paper,
        size,
        len({name for by_workload in study.found.values() for name in by_workload}),
        rows,
        ablated,
        _codes(paper, size, processes, named("codes")),
        lessons_of(paper, study),
        [(figure, figure.frame(study)) for figure in figures_of(paper)],
    )


def _needed(paper: str, rows: Sequence[Row]) -> set[str]:
    """The ablations of the causes of results outside their tolerance that are not counted apart."""
    causes = explained(paper).CAUSES
    outside = [row["id"] for row in rows if row["within"] is False and row["status"] == "measured"]
    return {causes[name].ablation for name in outside if name in causes}


def _codes(paper: str, size: str, processes: int | None, progress: Progress) -> Codes:
    """The results on each code of a paper, if it has several."""
    codes = codes_of(paper)
    if len(codes) == 1:
        return NO_CODES
    rows = by_code(paper, size, (), processes, progress, keep=True)
    return {"codes": {name: as_dict(one) for name, one in codes.items()}, "results": [one.as_dict() for one in rows]}
