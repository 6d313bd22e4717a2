"""Values by workload behind the figures: time, energy and stalls, against the gated baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import pandas as pd

from warpreg.energy import Technology
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.tfet import band
from warpreg_papers.tfet.costs import Cost, normalized
from warpreg_papers.tfet.designs import (
    ALL_TFET,
    BASELINE,
    CMOS_RA,
    COMPARED,
    GATED,
    LATENCIES,
    MEM_RA,
    SAMPLING,
    SIZES,
    timed,
)

Values = Mapping[str, float]
OFF_CHIP = ("memory", "memory queue")
"""Causes of the stall account: a warp waits for data from memory, or for a memory system that accepts nothing."""


def names(study: Study, variant: Variant) -> list[str]:
    """The workloads that the baseline and a design have measured."""
    return study.in_all([BASELINE, timed(variant)])


def mean(study: Study, values: Values, of: Sequence[str] = ()) -> float | None:
    """The arithmetic mean over workloads, by default all; None if there are none."""
    chosen = [name for name in values if not of or name in of]
    return fmean([values[name] for name in chosen], study.weights_of(chosen)) if chosen else None


def by_workload(study: Study, variant: Variant, value: Callable[[Sample, Sample], float]) -> dict[str, float]:
    """A value of a design's sample and the baseline's, by workload."""
    samples, plain = study[timed(variant)], study[BASELINE]
    return {name: value(samples[name], plain[name]) for name in names(study, variant)}


def time(study: Study, variant: Variant) -> dict[str, float]:
    """Figure 6(a): execution time, normalized to the baseline."""
    return by_workload(study, variant, lambda sample, plain: sample.cycles / plain.cycles)


def energies(study: Study, variant: Variant, technology: Technology | None = None) -> dict[str, Cost]:
    """Figures 6(b) and 7: energy, normalized to that of the baseline."""
    samples, plain = study[timed(variant)], study[BASELINE]
    return {name: normalized(samples[name], variant, plain[name], technology) for name in names(study, variant)}


def totals(costs: Mapping[str, Cost]) -> dict[str, float]:
    """All energy."""
    return {name: cost.total for name, cost in costs.items()}


def stalls(study: Study) -> dict[str, float]:
    """Figure 4: share of the time of a warp in which it waits for off-chip accesses, under the baseline."""
    return {name: ratio(_off_chip(one), one.warp_cycles) for name, one in study[BASELINE].items()}


def _off_chip(sample: Sample) -> int:
    return sum(sample.stalls.get(cause, 0) for cause in OFF_CHIP)


def saved(study: Study, variant: Variant, part: Callable[[Cost], float]) -> dict[str, float]:
    """Energy of a kind that a design saves, of all energy of the baseline."""
    before, after = energies(study, GATED), energies(study, variant)
    return {name: part(before[name]) - part(cost) for name, cost in after.items()}


def figure_4(study: Study) -> pd.DataFrame:
    """Figure 4."""
    return _frame([{"workload": name, "stall": share} for name, share in stalls(study).items()], "workload", "stall")


def figure_6a(study: Study) -> pd.DataFrame:
    """Figure 6(a)."""
    return _by_design(COMPARED, lambda variant: time(study, variant), "time")


def figure_6b(study: Study) -> pd.DataFrame:
    """Figure 6(b)."""
    return _by_design(COMPARED, lambda variant: totals(energies(study, variant)), "energy")


def figure_7(study: Study) -> pd.DataFrame:
    """Figure 7: dynamic energy and leakage."""
    rows = [
        {"workload": name, "design": label, "part": part, "energy": value}
        for label, variant in {"baseline": GATED, "CMOS_RA": CMOS_RA, "MEM_RA": MEM_RA}.items()
        for name, cost in energies(study, variant).items()
        for part, value in (("leakage", cost.leakage), ("dynamic", cost.dynamic))
    ]
    return _frame(rows, "workload", "design", "part", "energy")


def sizes(study: Study) -> pd.DataFrame:
    """Section 3.3: time and energy of MEM_RA by the number of CMOS registers."""
    return _sweep(study, {f"{size:g}K": one for size, one in SIZES.items()}, "CMOS registers")


def references(study: Study) -> pd.DataFrame:
    """Section 3.3: time and energy of MEM_RA by the reference latency."""
    return _sweep(study, {f"{cycles} cycles": one for cycles, one in LATENCIES.items()}, "reference latency")


def sampling(study: Study) -> pd.DataFrame:
    """Time and energy of MEM_RA by period and scope of the samples, which the paper does not print."""
    return _sweep(study, SAMPLING, "sampling")


def forced(study: Study) -> pd.DataFrame:
    """Why results are in TFET vectors under MEM_RA: shares of all renamed destinations."""
    events = {"chosen": "by choice", "loads_forced": "loads, no CMOS free", "others_forced": "others, no CMOS free"}
    rows = [
        {"workload": name, "reason": label, "destinations": ratio(_events(one)[event], _events(one)["renamed"])}
        for name, one in study[timed(MEM_RA)].items()
        for event, label in events.items()
    ]
    return _frame(rows, "workload", "reason", "destinations")


def uncertainty(study: Study) -> pd.DataFrame:
    """Energy of two designs at both ends of the band, and as derived."""
    ends = {"low": band.low().technology(), "derived": None, "high": band.high().technology()}
    rows = [
        {"design": label, "end": end, "energy": value}
        for label, variant in {"all_TFET": ALL_TFET, "CMOS_RA": CMOS_RA, "MEM_RA": MEM_RA}.items()
        for end, technology in ends.items()
        if (value := mean(study, totals(energies(study, variant, technology)))) is not None
    ]
    return _frame(rows, "design", "end", "energy")


def _events(sample: Sample) -> Mapping[str, int]:
    return sample.counts.events


def _by_design(designs: Mapping[str, Variant], values: Callable[[Variant], Values], column: str) -> pd.DataFrame:
    rows = [
        {"workload": name, "design": label, column: value}
        for label, variant in designs.items()
        for name, value in values(variant).items()
    ]
    return _frame(rows, "workload", "design", column)


def _sweep(study: Study, variants: Mapping[str, Variant], key: str) -> pd.DataFrame:
    rows = []
    for place, variant in variants.items():
        panels = {"time": time(study, variant), "energy": totals(energies(study, variant))}
        rows += [
            {key: place, "quantity": quantity, "workload": name, "normalized": value}
            for quantity, values in panels.items()
            for name, value in values.items()
        ]
    return _frame(rows, key, "quantity", "workload", "normalized")


def _frame(rows: Sequence[Mapping[str, object]], *columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns))
