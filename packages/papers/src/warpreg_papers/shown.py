"""Results of ablations: each result without its supposed cause, and the verdict on the cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies.study import Measured, Study
from warpreg.ir.errors import UnknownNameError
from warpreg_papers import published
from warpreg_papers.ablation import Ablation, ablated, taking_part, weighted
from warpreg_papers.cause import Cause, Verdict, judge
from warpreg_papers.part import Part, findings_of
from warpreg_papers.published import Published
from warpreg_papers.reproduction import explained, measure, paper_module

ALL = "all"
"""Name that stands for all ablations of the paper."""


@dataclass(frozen=True, slots=True)
class AblationResult:
    """A printed result, measured unchanged and under the ablation of its cause; ``title`` describes the ablation."""

    published: Published
    cause: Cause
    title: str
    measured: Measured | None
    ablated: Measured | None

    @property
    def share(self) -> float | None:
        """Share of the difference between printed and measured value that disappears (`Published.share`)."""
        if self.measured is None or self.ablated is None:
            return None
        return self.published.share(self.measured, self.ablated)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the cause is shown (`judge`); None for a result within tolerance or without a measurement."""
        if self.measured is None or self.published.within(self.measured):
            return None
        if self.ablated is None:
            return "not explained"
        return judge(self.share, within=self.published.within(self.ablated))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON and tables; ``within`` refers to the ablated value."""
        return {
            "paper": self.published.paper,
            "id": self.published.id,
            "published": self.published.printed,
            "measured": self.measured,
            "ablated": self.ablated,
            "share": self.share,
            "unit": self.published.unit,
            "within": None if self.ablated is None else self.published.within(self.ablated),
            "verdict": self.verdict,
            "ablation": self.cause.ablation,
            "title": self.title,
            "cause": str(self.cause),
        }


def find_ablation(paper: str, name: str) -> Ablation:
    """An ablation of a paper by name; raises UnknownNameError."""
    known = explained(paper).ABLATIONS
    if name not in known:
        raise UnknownNameError("ablation", name, known)
    return known[name]


def parts_of(paper: str, ablation: Ablation) -> list[Part]:
    """The parts of the paper's results that an ablation measures again; raises UnknownNameError."""
    known = paper_module(paper).PARTS
    for name in ablation.parts:
        if name not in known:
            raise UnknownNameError(f"part of the results of {paper}", name, known)
    return [known[name] for name in ablation.parts]


def workloads_under(paper: str, name: str, names: Sequence[str] = ()) -> list[str]:
    """The workloads that an ablation runs, among ``names`` or the paper's; none if it needs no runs of its own."""
    ablation = find_ablation(paper, name)
    asked = names or paper_module(paper).WORKLOADS
    return taking_part(ablation, parts_of(paper, ablation), asked) if ablation.needs_runs else []


def under_ablation(
    paper: str,
    name: str,
    study: Study,
    names: Sequence[str] = (),
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> Mapping[str, Measured]:
    """The paper's results under an ablation, at the size and with the options of the unchanged study."""
    ablation = find_ablation(paper, name)
    parts = parts_of(paper, ablation)
    if not ablation.needs_runs:
        return findings_of(parts, weighted(study, ablation.mix))
    asked = names or paper_module(paper).WORKLOADS
    other = ablated(ablation, parts, asked, study.size, study.choice, processes, progress, keep=keep)
    return findings_of(parts, other)


def saved_verdicts(paper: str, study: Study) -> Iterator[AblationResult]:
    """The results outside their tolerance whose cause names an ablation that has been measured on all workloads of
    ``study``, at its size and with its options; nothing is measured.
    """
    for name, ablation in explained(paper).ABLATIONS.items():
        parts = parts_of(paper, ablation)
        if ablation.needs_runs:
            workloads = paper_module(paper).WORKLOADS
            other = ablated(ablation, parts, workloads, study.size, study.choice, only_saved=True)
            if not _left_out(other) <= _left_out(study):
                continue
        else:
            other = weighted(study, ablation.mix)
        if not all(other.found.get(measure) for part in parts for measure in part.measures):
            continue
        rows = shown(paper, name, study, findings_of(parts, other))
        yield from (row for row in rows if row.verdict is not None)


def _left_out(study: Study) -> set[str]:
    """Workloads without a finding of some measure."""
    return {Path(name).name for reasons in study.left_out.values() for name in reasons}


def shown(paper: str, name: str, study: Study, other: Mapping[str, Measured]) -> Iterator[AblationResult]:
    """The results whose cause names an ablation, in the paper's order."""
    return shown_of(paper, name, paper_module(paper).findings(study), other)


def shown_of(
    paper: str, name: str, measured: Mapping[str, Measured], other: Mapping[str, Measured]
) -> Iterator[AblationResult]:
    """The same, by values that were ``measured`` without the ablation."""
    module = explained(paper)
    for result in published.results(paper):
        cause = module.CAUSES.get(result.id)
        if cause is not None and cause.ablation == name:
            title = module.ABLATIONS[name].title
            yield AblationResult(result, cause, title, measured.get(result.id), other.get(result.id))


def compare(
    paper: str,
    name: str,
    size: str = "small",
    names: Sequence[str] = (),
    choice: CompileChoice | None = None,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = True,
) -> list[AblationResult]:
    """Measure a paper's workloads unchanged and under one ablation, or all of them in turn; ``choice`` as in `measure`.

    Raises UnknownNameError.
    """
    wanted = list(explained(paper).ABLATIONS) if name == ALL else [name]
    for one in wanted:
        parts_of(paper, find_ablation(paper, one))
    asked = names or paper_module(paper).WORKLOADS
    study = measure(paper, size, asked, choice, processes, progress, keep=keep)
    rows: list[AblationResult] = []
    for one in wanted:
        other = under_ablation(paper, one, study, asked, processes, progress, keep=keep)
        rows += shown(paper, one, study, other)
    return rows
