"""The results of a paper on each of its codes: its own, and others beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.evaluation.studies.study import Measured, study
from warpreg_papers import published
from warpreg_papers.code import Code
from warpreg_papers.published import Published
from warpreg_papers.reproduction import codes_of, paper_module


@dataclass(frozen=True, slots=True)
class ByCode:
    """A printed result with its measured value by code; codes on which it was not measured are missing."""

    published: Published
    measured: Mapping[str, Measured]

    @property
    def within(self) -> dict[str, bool]:
        """Whether each value is within the tolerance, by code."""
        return {code: self.published.within(value) for code, value in self.measured.items()}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "paper": self.published.paper,
            "id": self.published.id,
            "published": self.published.printed,
            "unit": self.published.unit,
            "could_fail": self.published.could_fail,
            "measured": dict(self.measured),
            "within": self.within,
        }


def as_dict(code: Code) -> dict[str, Any]:
    """A code for JSON."""
    return {"title": code.title, "source": code.source, "options": code.choice.as_dict()}


def by_code(
    paper: str,
    size: str = "small",
    names: Sequence[str] = (),
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> list[ByCode]:
    """Measure the results of a paper on each of its codes, without what only figures or ablations need.

    Raises UnknownNameError.
    """
    module = paper_module(paper)
    needed = [one for part in module.PARTS.values() for one in part.measures if one in module.MEASURES]
    findings = {
        name: module.findings(
            study(names or module.WORKLOADS, needed, size, code.choice, processes, progress, keep=keep)
        )
        for name, code in codes_of(paper).items()
    }
    return [
        ByCode(result, {code: measured[result.id] for code, measured in findings.items() if result.id in measured})
        for result in published.results(paper)
    ]
