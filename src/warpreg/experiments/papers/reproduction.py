"""A paper reproduced: each of its printed results beside what was measured here, none left out.

A paper is a folder.  ``results`` declares ``WORKLOADS`` (what its figures are of: the paper's own, as far as the suite
has them), ``MEASURES`` (what they need of each), ``findings(study)`` (measured values by result id) and
``UNMEASURABLE`` (results whose inputs cannot exist here, with the reason).  ``causes`` declares ``CAUSES`` (why a value
falls outside its tolerance, by result id) and ``ABLATIONS`` (the runs that show it, by name), ``figures`` declares
``FIGURES`` in the paper's order.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, cast

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.figure import Figure
from warpreg.experiments.runs.run import AS_COMPILED, CompileChoice
from warpreg.experiments.studies import published
from warpreg.experiments.studies.published import Measured, Published
from warpreg.experiments.studies.study import Measure, Study, study
from warpreg.ir.errors import UnknownNameError, WarpregError

PAPERS = {"rfc": "rfc", "orf-lrf": "orf_lrf", "rc-rsp": "rc_rsp"}
"""Papers that are implemented, and the folder of each."""


NOT_AMONG_THEM = "about workloads that were not among those measured"
UNEXPLAINED = "not explained yet"


class ReproductionError(WarpregError):
    """A paper's module that claims a result that is not printed."""


class Paper(Protocol):
    """What a paper's module declares."""

    WORKLOADS: Sequence[str]
    MEASURES: Sequence[Measure[Any]]
    UNMEASURABLE: Mapping[str, str]

    def findings(self, study: Study) -> Mapping[str, Measured]:
        """Measured values by result id."""


class Explained(Protocol):
    """What the module of a paper's causes declares."""

    CAUSES: Mapping[str, Cause]
    ABLATIONS: Mapping[str, Ablation]


@dataclass(frozen=True, slots=True)
class Reproduced:
    """One printed result with its measured value; None where it cannot be measured, and ``cause`` says why."""

    published: Published
    measured: Measured | None
    cause: str

    @property
    def within(self) -> bool | None:
        """Computed from the tolerance table; None where nothing was measured."""
        return None if self.measured is None else self.published.within(self.measured)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.published.id,
            "where": self.published.where,
            "what": self.published.what,
            "published": self.published.printed,
            "measured": self.measured,
            "unit": self.published.unit,
            "within": self.within,
            "cause": self.cause,
        }


def paper_module(paper: str) -> Paper:
    """The results of an implemented paper; raises UnknownNameError."""
    return cast(Paper, _part(paper, "results"))


def explained(paper: str) -> Explained:
    """Causes and ablations of an implemented paper; raises UnknownNameError."""
    return cast(Explained, _part(paper, "causes"))


def figures_of(paper: str) -> tuple[Figure, ...]:
    """The figures of an implemented paper; raises UnknownNameError."""
    found: tuple[Figure, ...] = _part(paper, "figures").FIGURES
    return found


def _part(paper: str, part: str) -> ModuleType:
    if paper not in PAPERS:
        raise UnknownNameError("reproduced paper", paper, PAPERS)
    return importlib.import_module(f"warpreg.experiments.papers.{PAPERS[paper]}.{part}")


def measure(
    paper: str,
    size: str = "small",
    names: Sequence[str] = (),
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> Study:
    """The study behind a paper's figures, over the named workloads or the paper's; ``keep`` as in `study`."""
    module = paper_module(paper)
    return study(names or module.WORKLOADS, module.MEASURES, size, choice, processes, progress, keep=keep)


def reproduced(paper: str, found: Study) -> Iterator[Reproduced]:
    """Every printed result of the paper, in the paper's order.

    Raises ReproductionError if the module names one that is not printed.
    """
    module, causes = paper_module(paper), explained(paper).CAUSES
    findings = module.findings(found)
    printed = published.results(paper)
    strangers = {*findings, *module.UNMEASURABLE, *causes} - {result.id for result in printed}
    if strangers:
        raise ReproductionError(f"{paper}: no printed result is named {', '.join(sorted(strangers))}")
    for result in printed:
        if result.id in findings:
            value = findings[result.id]
            cause = "" if result.within(value) else str(causes.get(result.id, UNEXPLAINED))
            yield Reproduced(result, value, cause)
        elif result.id in module.UNMEASURABLE:
            yield Reproduced(result, None, module.UNMEASURABLE[result.id])
        else:
            yield Reproduced(result, None, NOT_AMONG_THEM)
