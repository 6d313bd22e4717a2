"""What an ablation shows: results beside what they become without what their cause blames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.experiments.papers.ablation import Ablation, ablated, selected
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.reproduction import explained, measure, paper_module
from warpreg.experiments.runs.run import AS_COMPILED, CompileChoice
from warpreg.experiments.studies import published
from warpreg.experiments.studies.published import Measured, Published
from warpreg.experiments.studies.study import Study
from warpreg.ir.errors import UnknownNameError

ALL = "all"
"""In the place of a name: every ablation of the paper."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A printed result, measured as it is and under the ablation that its cause names."""

    published: Published
    cause: Cause
    measured: Measured | None
    ablated: Measured | None

    @property
    def share(self) -> float | None:
        """How much of the difference between printed and measured goes away (`Published.share`)."""
        if self.measured is None or self.ablated is None:
            return None
        return self.published.share(self.measured, self.ablated)

    def as_dict(self) -> dict[str, Any]:
        """For JSON and tables; ``within`` is of the ablated value."""
        return {
            "paper": self.published.paper,
            "id": self.published.id,
            "published": self.published.printed,
            "measured": self.measured,
            "ablated": self.ablated,
            "share": self.share,
            "unit": self.published.unit,
            "within": None if self.ablated is None else self.published.within(self.ablated),
            "ablation": self.cause.ablation,
            "cause": str(self.cause),
        }


def find_ablation(paper: str, name: str) -> Ablation:
    """An ablation of a paper by name; raises UnknownNameError."""
    known = explained(paper).ABLATIONS
    if name not in known:
        raise UnknownNameError("ablation", name, known)
    return known[name]


def under_ablation(
    paper: str,
    name: str,
    found: Study,
    names: Sequence[str] = (),
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> Mapping[str, Measured]:
    """The paper's results under an ablation, at the size and with the choice of a study that was made as it is."""
    module, ablation = paper_module(paper), find_ablation(paper, name)
    if ablation.needs_runs:
        asked = names or module.WORKLOADS
        other = ablated(ablation, module.MEASURES, asked, found.size, found.choice, processes, progress, keep=keep)
    else:
        other = selected(ablation, found)
    return (ablation.findings or module.findings)(other)


def shown(paper: str, name: str, found: Study, other: Mapping[str, Measured]) -> Iterator[Shown]:
    """The results whose cause names an ablation, in the paper's order."""
    causes, measured = explained(paper).CAUSES, paper_module(paper).findings(found)
    for result in published.results(paper):
        cause = causes.get(result.id)
        if cause is not None and cause.ablation == name:
            yield Shown(result, cause, measured.get(result.id), other.get(result.id))


def compare(
    paper: str,
    name: str,
    size: str = "small",
    names: Sequence[str] = (),
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = True,
) -> list[Shown]:
    """Measure a paper's workloads as they are and under an ablation, or one after the other under all of them.  Raises
    UnknownNameError.
    """
    wanted = list(explained(paper).ABLATIONS) if name == ALL else [name]
    for one in wanted:
        find_ablation(paper, one)
    asked = names or paper_module(paper).WORKLOADS
    found = measure(paper, size, asked, choice, processes, progress, keep=keep)
    rows: list[Shown] = []
    for one in wanted:
        other = under_ablation(paper, one, found, asked, processes, progress, keep=keep)
        rows += shown(paper, one, found, other)
    return rows
