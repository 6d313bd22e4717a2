"""Reproduction of a paper: every printed result beside the measured value.

A paper is a folder.  ``results`` declares ``WORKLOADS`` (the paper's own, as far as the suite has them), ``MEASURES``
(required of each workload), ``PARTS`` (results that are computed together, by name), ``findings(study)`` (measured
values of all parts by result id) and ``UNMEASURABLE`` (results whose inputs are not available, with the reason).  It
may declare ``CODES``, the codes that the results are measured on, the paper's own first (module ``code``), and
``bands(study)``, the values of results at both ends of an uncertain input, and ``ONLY``, the workloads of measures that
not all of them need.
``causes`` declares ``CAUSES`` (supposed causes of values outside their tolerance, by result id), ``ABLATIONS`` (runs
that test them, by name) and ``REMARKS`` (observations on results that no ablation explains).  It may declare
``CONTRADICTIONS``, printed results that other numbers of the paper do not allow; ``LIMITS``, results that no design
reaches on this machine and code; ``READINGS``, results by another measure that the text allows (module ``apart``); and
``SUMMARY``, what was reproduced, what was not, and why, in a few sentences.  ``figures`` declares ``FIGURES`` in the
paper's order.  A module ``lessons`` may declare ``lessons(study)``: sentences on what a designer learns from the study.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol, cast

import pandas as pd

from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies.on_demand import study_on_demand
from warpreg.evaluation.studies.study import EVERYWHERE, Measure, Measured, Only, Study, saved, study
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.report.figure import Figure
from warpreg_papers import published
from warpreg_papers.ablation import Ablation
from warpreg_papers.apart import Apart, Kind, reasons_apart, set_apart
from warpreg_papers.cause import Cause
from warpreg_papers.code import ONLY_MODERN, Code
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.part import Part
from warpreg_papers.published import Published

PAPERS = {
    "rfc": "rfc",
    "orf-lrf": "orf_lrf",
    "rc-rsp": "rc_rsp",
    "corf": "corf",
    "bow": "bow",
    "regmutex": "regmutex",
    "tfet": "tfet",
    "larf": "larf",
}
"""Implemented papers, and the folder of each."""


Status = Literal["measured", "quoted", "not measured"] | Kind
"""``quoted``: the paper repeats what others have measured.  `Kind`: measured, outside its tolerance, counted apart."""
NOT_AMONG_THEM = "about workloads that were not among those measured"
UNEXPLAINED = "not explained"


class ReproductionError(WarpregError):
    """A paper's module that names a result that is not printed, or gives two reasons for one."""


class Paper(Protocol):
    """Declarations of a paper's module."""

    WORKLOADS: Sequence[str]
    MEASURES: Sequence[Measure[Any]]
    PARTS: Mapping[str, Part]
    UNMEASURABLE: Mapping[str, str]

    def findings(self, study: Study) -> Mapping[str, Measured]:
        """Measured values by result id."""


class CauseModule(Protocol):
    """Declarations of the module of a paper's causes."""

    CAUSES: Mapping[str, Cause]
    ABLATIONS: Mapping[str, Ablation]
    REMARKS: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReproducedResult:
    """One printed result with its measured value; None if it cannot be measured, with the reason in ``cause``.

    ``band``: the least and the greatest value for an input that is uncertain.  ``apart``: why a result outside its
    tolerance is counted apart.
    """

    published: Published
    measured: Measured | None
    cause: str
    band: tuple[float, float] | None = None
    apart: Apart | None = None

    @property
    def status(self) -> Status:
        if self.published.quoted:
            return "quoted"
        if self.apart is not None:
            return self.apart.kind
        return "not measured" if self.measured is None else "measured"

    @property
    def within(self) -> bool | None:
        """Computed from the tolerance table; None without a measurement."""
        return None if self.measured is None else self.published.within(self.measured)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.published.id,
            "where": self.published.where,
            "what": self.published.what,
            "kind": self.published.kind,
            "published": self.published.printed,
            "measured": self.measured,
            **({} if self.band is None else {"band": list(self.band)}),
            "unit": self.published.unit,
            "status": self.status,
            "within": self.within,
            "null": self.published.null,
            "could_fail": self.published.could_fail,
            "cause": self.cause,
            **({} if self.apart is None else self.apart.as_dict()),
        }


def paper_module(paper: str) -> Paper:
    """The results of an implemented paper; raises UnknownNameError."""
    return cast(Paper, _part(paper, "results"))


def explained(paper: str) -> CauseModule:
    """Causes and ablations of an implemented paper; raises UnknownNameError."""
    return cast(CauseModule, _part(paper, "causes"))


def summary_of(paper: str) -> str:
    """What was reproduced of an implemented paper, what was not, and why; empty if it says nothing of that.  Raises
    UnknownNameError.
    """
    said: str = getattr(explained(paper), "SUMMARY", "")
    return said


def lessons_of(paper: str, study: Study) -> list[str]:
    """What a designer learns from the study of an implemented paper; empty if it says nothing of that.  Raises
    UnknownNameError.
    """
    paper_module(paper)
    name = f"warpreg_papers.{PAPERS[paper]}.lessons"
    return list(importlib.import_module(name).lessons(study)) if importlib.util.find_spec(name) else []


def contradictions_of(paper: str) -> Mapping[str, Contradiction]:
    """Results that an implemented paper contradicts itself, by id.

    Raises UnknownNameError; ContradictionError for one that its printed numbers do not bear out; ReproductionError for
    one that has a cause or a remark too.
    """
    said = explained(paper)
    contradictions: Mapping[str, Contradiction] = getattr(said, "CONTRADICTIONS", {})
    twice = contradictions.keys() & {*said.CAUSES, *said.REMARKS}
    if twice:
        raise ReproductionError(f"{paper}: a contradiction and another reason: {', '.join(sorted(twice))}")
    for result in published.results(paper):
        if result.id in contradictions:
            contradictions[result.id].check(result)
    return contradictions


def figures_of(paper: str) -> tuple[Figure, ...]:
    """The figures of an implemented paper; raises UnknownNameError."""
    found: tuple[Figure, ...] = _part(paper, "figures").FIGURES
    return found


def figure_of(paper: str, name: str) -> Figure:
    """A figure of a paper by name; raises UnknownNameError."""
    known = {figure.name: figure for figure in figures_of(paper)}
    if name not in known:
        raise UnknownNameError(f"figure of {paper}", name, known)
    return known[name]


def figure(paper: str, name: str, *, workloads: Sequence[str] = (), size: str = "small") -> pd.DataFrame:
    """The data of a figure of a paper, ``figure("rfc", "figure-2a")``, over the paper's workloads or these, on the code
    that the paper describes.

    Only what the figure shows is measured, in this process, and kept.  ``warpreg reproduce`` measures whole papers.
    Raises `UnknownNameError`; a workload that cannot be measured is left out.
    """
    found, module = figure_of(paper, name), paper_module(paper)
    names, choice = workloads or module.WORKLOADS, code_of(paper).choice
    return found.frame(study_on_demand(names, module.MEASURES, size, choice, workloads_of_measures(paper)))


def codes_of(paper: str) -> Mapping[str, Code]:
    """The codes of an implemented paper by name, its own first; raises UnknownNameError."""
    codes: Mapping[str, Code] = getattr(_part(paper, "results"), "CODES", ONLY_MODERN)
    return codes


def code_of(paper: str, name: str | None = None) -> Code:
    """A code of a paper by name, its own by default; raises UnknownNameError."""
    known = codes_of(paper)
    if name is not None and name not in known:
        raise UnknownNameError(f"code of {paper}", name, known)
    return known[name or next(iter(known))]


def workloads_of_measures(paper: str) -> Only:
    """The workloads of measures of an implemented paper that not all of its workloads need."""
    only: Only = getattr(_part(paper, "results"), "ONLY", EVERYWHERE)
    return only


def _part(paper: str, part: str) -> ModuleType:
    if paper not in PAPERS:
        raise UnknownNameError("reproduced paper", paper, PAPERS)
    return importlib.import_module(f"warpreg_papers.{PAPERS[paper]}.{part}")


def measure(
    paper: str,
    size: str = "small",
    names: Sequence[str] = (),
    choice: CompileChoice | None = None,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> Study:
    """The study behind a paper's figures, over the named workloads or the paper's, of the paper's own code by default;
    ``keep`` as in `study`.
    """
    module = paper_module(paper)
    options = code_of(paper).choice if choice is None else choice
    wanted = names or module.WORKLOADS
    return study(
        wanted, module.MEASURES, size, options, processes, progress, keep=keep, only=workloads_of_measures(paper)
    )


def saved_measurements(paper: str, size: str = "small") -> Study:
    """The study behind a paper's figures, as far as `measure` has saved it; nothing is measured."""
    module = paper_module(paper)
    return saved(module.WORKLOADS, module.MEASURES, size, code_of(paper).choice, only=workloads_of_measures(paper))


def reproduced(paper: str, study: Study) -> Iterator[ReproducedResult]:
    """Every printed result of the paper, in the paper's order.

    Raises ReproductionError if the module names a result that is not printed or only quoted.
    """
    contradictions_of(paper)
    module, said = paper_module(paper), explained(paper)
    findings = module.findings(study)
    bands: Mapping[str, tuple[float, float]] = getattr(module, "bands", lambda _: {})(study)
    printed = published.results(paper)
    named = {*findings, *module.UNMEASURABLE, *said.CAUSES, *said.REMARKS}
    named |= {name for name, _ in reasons_apart(said)}
    strangers = named - {result.id for result in printed}
    if strangers:
        raise ReproductionError(f"{paper}: no printed result is named {', '.join(sorted(strangers))}")
    quoted = named & {result.id for result in printed if result.quoted}
    if quoted:
        raise ReproductionError(f"{paper}: only quoted by the paper: {', '.join(sorted(quoted))}")
    for result in printed:
        if result.quoted:
            yield ReproducedResult(result, None, f"quoted from {result.quoted}")
        elif result.id in findings:
            yield judged(paper, result, findings[result.id], study, bands.get(result.id))
        elif result.id in module.UNMEASURABLE:
            yield ReproducedResult(result, None, module.UNMEASURABLE[result.id])
        else:
            yield ReproducedResult(result, None, NOT_AMONG_THEM)


def judged(
    paper: str, result: Published, value: Measured, study: Study, band: tuple[float, float] | None = None
) -> ReproducedResult:
    """A measured result, and if it is outside its tolerance, what sets it apart in a study, or its cause."""
    said = explained(paper)
    if result.within(value):
        return ReproducedResult(result, value, "", band)
    apart = set_apart(result, said, study)
    return ReproducedResult(result, value, reason(result.id, said) if apart is None else apart.text, band, apart)


def reason(result: str, said: CauseModule) -> str:
    """The tested cause of a result outside its tolerance, or the statement that there is none."""
    if result in said.CAUSES:
        return str(said.CAUSES[result])
    return f"{UNEXPLAINED}; remark: {said.REMARKS[result]}" if result in said.REMARKS else UNEXPLAINED
