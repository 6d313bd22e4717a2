"""Single results of a page measured again, with what explains them, in place of those that the page has.

A new ablation, limit or reading concerns few results of a paper, and the whole page takes hours.  A result is measured
again together with its evidence, by the same functions as the whole page, so that both are of the same code.  What the
page says of its other results, causes and contradictions, needs no measurement and is brought up to date; their values
stay.  Nor does an ablation that compiles one of the codes of the paper, whose results the page already has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.evaluation.studies.study import Measure, Measured, study
from warpreg.ir.errors import UnknownNameError
from warpreg_papers import published
from warpreg_papers.apart import FIELDS, Apart, Statement, reasons_apart
from warpreg_papers.complete import PaperReport, Row
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.part import Part, findings_of
from warpreg_papers.reproduction import (
    ReproductionError,
    code_of,
    codes_of,
    contradictions_of,
    explained,
    judged,
    paper_module,
    reason,
    workloads_of_measures,
)
from warpreg_papers.shown import ALL, AblationResult, find_ablation, shown_of, under_ablation, workloads_under

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Needs:
    """What some results and their evidence are computed from: ``parts`` of the paper's results, ``only`` the workloads
    of each measure, ``ablations`` by name, and ``codes`` of the paper by the name of the ablation that compiles them.
    """

    parts: Sequence[Part]
    only: Mapping[Measure[Any], Sequence[str]]
    ablations: Sequence[str]
    codes: Mapping[str, str]

    @property
    def workloads(self) -> list[str]:
        """Those that are run."""
        return list(dict.fromkeys(name for names in self.only.values() for name in names))


def caused_by(paper: str, ablation: str) -> list[str]:
    """The results whose cause names an ablation, or any with `ALL`.  Raises UnknownNameError."""
    if ablation != ALL:
        find_ablation(paper, ablation)
    return [result for result, cause in explained(paper).CAUSES.items() if ablation in (cause.ablation, ALL)]


def needs_of(paper: str, results: Sequence[str]) -> Needs:
    """What must be measured for some results of a paper.

    Raises UnknownNameError, and ReproductionError for a result of which nothing says what it is measured by.
    """
    known = {result.id for result in published.results(paper)}
    module, causes = paper_module(paper), explained(paper).CAUSES
    parts: dict[str, None] = {}
    beside: dict[Measure[Any], None] = {}
    for result in results:
        if result not in known:
            raise UnknownNameError(f"result of {paper}", result, known)
        said = [one for one in _statements(paper, result) if not isinstance(one, Contradiction)]
        if any(not one.parts and not one.measures for one in said):
            raise ReproductionError(f"{result}: expected parts or measures of its limit or reading, found neither")
        for one in said:
            parts |= dict.fromkeys(one.parts)
            beside |= dict.fromkeys(one.measures)
    ablations = dict.fromkeys(causes[result].ablation for result in results if result in causes)
    codes = {name: code for name in ablations if (code := _code_of(paper, name)) is not None}
    run = [name for name in ablations if name not in codes]
    for name in run:
        parts |= dict.fromkeys(find_ablation(paper, name).parts)
    chosen = [module.PARTS[name] for name in parts]
    return Needs(chosen, _only(paper, chosen, list(beside)), run, codes)


def _code_of(paper: str, ablation: str) -> str | None:
    """The code of the paper that an ablation compiles; None if it changes something else."""
    one, own = find_ablation(paper, ablation), code_of(paper).choice
    if not one.choice or one.parameters or one.machine or one.code or one.mix:
        return None
    changed = dataclasses.replace(own, **one.choice)
    return next((name for name, code in codes_of(paper).items() if code.choice == changed), None)


def _statements(paper: str, result: str) -> Iterator[Statement]:
    return (one for name, one in reasons_apart(explained(paper)) if name == result)


def _only(paper: str, parts: Sequence[Part], beside: Sequence[Measure[Any]]) -> dict[Measure[Any], list[str]]:
    """The workloads of each measure: those that its parts are about, as far as the paper measures it on them."""
    own, every = workloads_of_measures(paper), paper_module(paper).WORKLOADS
    by_measure: dict[Measure[Any], list[str]] = {}
    for measure in dict.fromkeys([*(one for part in parts for one in part.measures), *beside]):
        users = [part for part in parts if measure in part.measures]
        asked = [name for name in every if measure in beside or any(part.about(name) for part in users)]
        by_measure[measure] = [name for name in asked if name in own.get(measure, every)]
    return by_measure


def steps_of(paper: str, results: Sequence[str]) -> int:
    """Runs of workloads that `renewed` reports as progress."""
    needs = needs_of(paper, results)
    return len(needs.workloads) + sum(len(workloads_under(paper, name)) for name in needs.ablations)


def renewed(
    page: PaperReport, results: Sequence[str], processes: int | None = None, progress: Progress = lambda step: None
) -> PaperReport:
    """The page with some results measured again, at its size and on the paper's own code.

    Measurements are saved, so that an interrupted run resumes.  ``progress`` as in `complete`.  Raises as `needs_of`.
    """
    paper, needs = page.paper, needs_of(page.paper, results)

    def named(step: str) -> Progress:
        return lambda workload: progress(f"{paper}, {step}: {workload}")

    choice = code_of(paper).choice
    measured = study(
        needs.workloads, needs.only, page.size, choice, processes, named("results"), keep=True, only=needs.only
    )
    values = findings_of(needs.parts, measured)
    on_page = {row["id"]: row["measured"] for row in page.rows if row["measured"] is not None}
    new = {
        result.id: judged(paper, result, (on_page | values)[result.id], measured).as_dict()
        for result in published.results(paper)
        if result.id in results and result.id in on_page and _is_measured(paper, result.id)
    }
    rows = [_kept(paper, row, new.get(row["id"])) for row in page.rows]
    ablated = [row for row in page.ablated if row["id"] not in results and _is_named(paper, row)]
    shown: list[AblationResult] = []
    for name in needs.ablations:
        other = under_ablation(paper, name, measured, (), processes, named(f"ablation {name}"), keep=True)
        shown += shown_of(paper, name, values, other)
    for name, code in needs.codes.items():
        shown += shown_of(paper, name, on_page, _on_code(page, code))
    ablated += [one.as_dict() for one in shown if one.published.id in results]
    return dataclasses.replace(page, rows=rows, ablated=ablated)


def _on_code(page: PaperReport, code: str) -> dict[str, Measured]:
    """The results of a page on a code of its paper."""
    return {row["id"]: row["measured"][code] for row in page.codes["results"] if code in row["measured"]}


def _is_measured(paper: str, result: str) -> bool:
    """Whether something of a result is measured, beside its ablation on a code of the paper."""
    needs = needs_of(paper, [result])
    return bool(needs.only or needs.parts)


def _is_named(paper: str, row: Row) -> bool:
    """Whether the cause of a result still names the ablation of its row."""
    cause = explained(paper).CAUSES.get(row["id"])
    return cause is not None and cause.ablation == row["ablation"]


def _kept(paper: str, row: Row, new: Row | None) -> Row:
    """A row of the page with new values, or with what is said of it today."""
    said = new if new is not None else _said(paper, row)
    return {**{key: value for key, value in row.items() if said == {} or key not in FIELDS.values()}, **said}


def _said(paper: str, row: Row) -> Row:
    """Status and cause of a result outside its tolerance, as far as they need no measurement; empty if they do."""
    if row["within"] is not False:
        return {}
    contradiction = contradictions_of(paper).get(row["id"])
    if contradiction is not None:
        apart = Apart("contradicted", str(contradiction), contradiction.allowed())
        return {"status": apart.kind, "cause": apart.text, **apart.as_dict()}
    if row["status"] in FIELDS and row["status"] != "contradicted":
        return {}
    return {"status": "measured", "cause": reason(row["id"], explained(paper))}
