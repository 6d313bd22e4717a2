"""The data of a report: result rows, with what they share stated once.

A result names its run and its design by place.  A run is a workload with everything but the design: kernel, machine,
technology and options.  Results are comparable if they have the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from warpreg.report.page.designs import OF_MACHINE, described, following
from warpreg.report.page.rankings import rankings

Row = Mapping[str, Any]
Entry = TypeVar("Entry")
ELSEWHERE = ("workload", "design", "parameters", "note", "provenance", "residency", "timing")
"""Keys of a row that are not copied as they are."""
OF_RUN = ("kernel", "machine", "technology")
OF_RESULT = ("design", "code")
"""What the provenance says of the run, and of the result; the rest are options of the run."""


@dataclass(slots=True)
class _Places(Generic[Entry]):
    """Different entries in the order in which they were met."""

    entries: list[Entry] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def of(self, entry: Entry) -> int:
        """The place of an entry, which is added if it is new."""
        key = json.dumps(entry, sort_keys=True)
        if key not in self._known:
            self._known[key] = len(self.entries)
            self.entries.append(entry)
        return self._known[key]


def contents(
    title: str, rows: Iterable[Row], missing: Sequence[Mapping[str, Any]] = (), papers: Sequence[Row] = ()
) -> dict[str, Any]:
    """The data of a report with this title; rows have the form of `warpreg.evaluation.runs.row.Row.as_dict`.

    ``missing`` are cells of the study without a result: place, ``reason``, and whether they have ``failed``; ``papers``
    are reproductions (`warpreg_papers.report_section`).
    """
    runs: _Places[dict[str, Any]] = _Places()
    designs: _Places[dict[str, Any]] = _Places()
    residencies: _Places[Any] = _Places()
    codes: _Places[str] = _Places()
    results: dict[tuple[int, int], dict[str, Any]] = {}
    every = list(rows)
    followed = following(every)
    for row in every:
        provenance = row["provenance"]
        run = runs.of(_run(row))
        of_machine = followed[row["design"], provenance["design"]]
        parameters = {name: OF_MACHINE if name in of_machine else value for name, value in row["parameters"].items()}
        design = designs.of({"name": row["design"], "parameters": parameters, "digest": provenance["design"]})
        results[run, design] = {
            "run": run,
            "design": design,
            "code": codes.of(provenance["code"]),
            "residency": residencies.of(row.get("residency", [])),
            **({"of_machine": {name: row["parameters"][name] for name in sorted(of_machine)}} if of_machine else {}),
            **{name: value for name, value in row.items() if name not in ELSEWHERE},
            **_timing(row.get("timing")),
        }
    labelled, result_rows = described(designs.entries), list(results.values())
    return {
        "title": title,
        "codes": codes.entries,
        "designs": labelled,
        "runs": runs.entries,
        "residencies": residencies.entries,
        "results": result_rows,
        "rankings": rankings(labelled, runs.entries, result_rows),
        "missing": list(missing),
        "papers": list(papers),
    }


def _run(row: Row) -> dict[str, Any]:
    provenance = row["provenance"]
    options = {name: value for name, value in provenance.items() if name not in (*OF_RUN, *OF_RESULT)}
    return {"workload": row["workload"], **{name: provenance[name] for name in OF_RUN}, "options": options}


def _timing(details: Mapping[str, Any] | None) -> dict[str, Any]:
    """Of a timed run: achieved occupancy, the stall account without what is zero, and the error of a sample."""
    if details is None:
        return {}
    stalls = {cause: cycles for cause, cycles in details["stalls"].items() if cycles}
    sample = {"sample": details["sample"]} if "sample" in details else {}
    return {"achieved_occupancy": details["occupancy"], "stalls": stalls, **sample}
