"""Counts and energies of the designs of CASES 2018 by workload, from a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from warpreg import workloads
from warpreg.energy import Technology
from warpreg.evaluation.measures.strand_length import StrandLength
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.study import Measure, Study
from warpreg.replay import Counts
from warpreg.report.figure import HIGH, LOW
from warpreg_papers.rc_rsp import costs, cycles, residency
from warpreg_papers.rc_rsp.designs import (
    ABLATIONS,
    CAPACITIES_KB,
    CHOSEN,
    COMPARED,
    MRF,
    SCHEDULED,
    TIMED,
    Design,
    rsp,
)

RODINIA = "rodinia"
WORKLOADS = tuple(name for name in workloads.names() if workloads.find(name).suite == RODINIA)
ENERGY = "normalized energy"
STRANDS = StrandLength()
COUNTED: Sequence[Measure[object]] = (MRF, SCHEDULED, STRANDS, *(rsp(kb) for kb in CAPACITIES_KB), *ABLATIONS.values())
AGES: Sequence[Measure[object]] = (cycles.timed(CHOSEN, aged=CHOSEN),)
CYCLES: Sequence[Measure[object]] = tuple(cycles.measures(tuple(TIMED.values()), CHOSEN))
MEASURES: Sequence[Measure[object]] = (*COUNTED, *CYCLES, *residency.MEASURES)


def names(study: Study, measures: Sequence[Measure[object]] = (*COUNTED, COMPARED)) -> list[str]:
    """The Rodinia workloads of the study that all of these measures, as far as present, have measured; other workloads
    if there are none.
    """
    measured = study.in_all(measures)
    return [name for name in measured if name in WORKLOADS] or measured


def counts(study: Study, design: Design, name: str) -> Counts:
    """Counts of a design on a workload."""
    return scheduled(study)[name][design] if isinstance(design, Variant) else study[design][name]


def scheduled(study: Study) -> Mapping[str, Mapping[Variant, Counts]]:
    """By workload, the counts of designs along a schedule: all of them, or those that the figures compare."""
    return study[along(study)]


def along(study: Study) -> Scheduled:
    """The measure of designs along a schedule that the study has."""
    return SCHEDULED if SCHEDULED in study.found else COMPARED


def energies(
    study: Study, design: Design, priced_kb: float | None = None, priced: Technology | None = None
) -> dict[str, float]:
    """Register energy normalized to the baseline, by workload; ``priced_kb``: with the access energy of this storage
    size; ``priced``: in another technology.
    """
    return {
        name: costs.spent(counts(study, design, name), design, priced_kb, priced)
        / costs.spent(study[MRF][name], priced=priced)
        for name in names(study)
    }


def banded(study: Study, design: Design, priced_kb: float | None = None) -> dict[str, dict[str, float]]:
    """The energies of `energies` with both ends of their band, by workload."""
    value, *ends = (energies(study, design, priced_kb, priced) for priced in (costs.technology(), *costs.ends()))
    return {
        name: {ENERGY: value[name], LOW: min(end[name] for end in ends), HIGH: max(end[name] for end in ends)}
        for name in value
    }


def mean_banded(study: Study, design: Design) -> dict[str, float]:
    """The means of `banded`."""
    found = list(banded(study, design).values())
    return {column: mean(one[column] for one in found) for column in (ENERGY, LOW, HIGH)}


def elided(study: Study, design: Design, name: str) -> tuple[float, float]:
    """Reads served above the MRF, and writes that never reach it, divided by all (section IV-C)."""
    return shares(counts(study, design, name), study[MRF][name])


def shares(found: Counts, baseline: Counts) -> tuple[float, float]:
    """The shares of `elided` from counts."""
    writes = found.writes("MRF", moves=True)
    return 1 - found.reads("MRF") / baseline.reads(), 1 - writes / baseline.writes()


def mean(values: Iterable[float]) -> float:
    """Geometric mean; values below 1e-6 count as 1e-6."""
    logs = [math.log(max(value, 1e-6)) for value in values]
    return math.exp(sum(logs) / len(logs))
