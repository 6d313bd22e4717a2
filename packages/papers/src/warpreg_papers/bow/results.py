"""Bypassing operand collectors (thesis of 2021, chapter 3): its printed results on its fifteen benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.studies.study import Measure, Measured, Study
from warpreg_papers.bow import costs, frames
from warpreg_papers.bow.designs import (
    CHOSEN,
    COMPARED,
    HALF,
    MEASURES,
    MRF,
    PLAIN,
    RFC,
    SOURCES,
    WORKLOADS,
    bow,
    bow_wr,
    replayed,
    timed,
)
from warpreg_papers.bow.figure_36 import REGISTERS, VERSIONS, writes_for
from warpreg_papers.bow.frames import READS, WRITES, mean
from warpreg_papers.part import Part, findings_of

__all__ = ["MEASURES", "PARTS", "UNMEASURABLE", "WORKLOADS", "findings"]

NO_THREE_SOURCES = ("bfs", "b-tree", "lps")
NEVER_OVER_HALF = ("bfs", "b-tree", "backprop")
HIGH_OCCUPANCY = ("wp", "sad")
STUDIED = (2, 3, 7)
"""Windows of which section 3.3 prints the reuse."""
REUSE: Sequence[Measure[object]] = (
    MRF,
    *(replayed(family(window)) for family in (bow, bow_wr) for window in STUDIED),
)


def table_31() -> dict[str, Measured]:
    """Writes for r0 to r3 by version, and their totals."""
    results: dict[str, Measured] = {}
    for version, variant in VERSIONS.items():
        writes = {f"r{register}": writes_for(variant, register) for register in REGISTERS}
        results |= {f"bow-table31-{name}-{version}": number for name, number in writes.items()}
        results[f"bow-table31-total-{version}"] = sum(writes.values())
    return results


def _reuse(study: Study) -> dict[str, Measured]:
    results: dict[str, Measured] = {}
    for window in STUDIED:
        shares = {what: mean(study, values) for what, values in frames.bypassed(study, window).items() if values}
        if not shares:
            continue
        if window == max(STUDIED):
            results["bow-bypass-iw7"] = shares[READS]
        else:
            results[f"bow-read-bypass-iw{window}"] = shares[READS]
            results[f"bow-write-bypass-iw{window}"] = shares[WRITES]
    return results


def _destinations(study: Study) -> dict[str, Measured]:
    by_workload = frames.destinations(study)
    if not by_workload:
        return {}
    share = {
        label: mean(study, {name: shares[label] for name, shares in by_workload.items()})
        for label in frames.CLASSES.values()
    }
    return {
        "bow-dest-rf-only": share["register file only"],
        "bow-dest-boc-only": share["collector only"],
        "bow-dest-both": share["both"],
        "bow-transient-share": share["collector only"] + share["neither"],
    }


def _sources(study: Study) -> dict[str, Measured]:
    three = {name: shares[-1] for name, shares in study[SOURCES].items()}
    results: dict[str, Measured] = {}
    if three:
        results["bow-three-source-instructions"] = mean(study, three)
    if all(name in three for name in NO_THREE_SOURCES):
        results["bow-three-source-none"] = not any(three[name] for name in NO_THREE_SOURCES)
    return results


def _baseline(study: Study) -> dict[str, Measured]:
    shares = {name: frames.collection_shares(one)["all"] for name, one in study[PLAIN].items()}
    if not shares:
        return {}
    return {"bow-oc-time-share": mean(study, shares), "bow-oc-time-share-max": max(shares.values())}


def _occupancy(study: Study) -> dict[str, Measured]:
    shares = frames.over_half(study)
    results: dict[str, Measured] = {}
    if shares:
        results["bow-boc-over-half"] = mean(study, shares)
    if all(name in shares for name in NEVER_OVER_HALF):
        results["bow-boc-never-over-half"] = not any(shares[name] for name in NEVER_OVER_HALF)
    if all(name in shares for name in HIGH_OCCUPANCY):
        results["bow-occupancy-high"] = all(shares[name] > mean(study, shares) for name in HIGH_OCCUPANCY)
    return results


def _cycles(study: Study) -> dict[str, Measured]:
    names = study.in_all(COMPARED)
    if not names:
        return {}
    full, half = frames.gains(study, bow_wr(CHOSEN)), frames.gains(study, HALF)
    half_gain = mean(study, half)
    results: dict[str, Measured] = {
        "bow-ipc-iw3": mean(study, frames.gains(study, bow(CHOSEN))),
        "bow-wr-ipc-iw3": mean(study, full),
        "bow-wr-ipc-half": half_gain,
        "bow-wr-ipc-summary": half_gain,
        "bow-half-loss": mean(study, {name: 1 - (1 + half[name]) / (1 + full[name]) for name in names}),
        "bow-rfc-ipc": mean(study, frames.gains(study, RFC)),
    }
    if "sad" in names:
        results["bow-sensitivity-sad"] = full["sad"] > mean(study, full) and half["sad"] < full["sad"]
    return results


def _gain_of_wp(study: Study) -> dict[str, Measured]:
    gains = frames.gains(study, bow_wr(CHOSEN))
    return {"bow-sensitivity-wp": gains["wp"] < mean(study, gains)} if "wp" in gains else {}


def _collection(study: Study) -> dict[str, Measured]:
    cycles = frames.collection(study, bow(CHOSEN))
    return {"bow-oc-cycles-iw3": 1 - mean(study, cycles)} if cycles else {}


def _energy(study: Study) -> dict[str, Measured]:
    results: dict[str, Measured] = {}
    for start, variant in (("bow", bow(CHOSEN)), ("bow-wr", bow_wr(CHOSEN))):
        each = frames.energies(study, variant)
        if each:
            results[f"{start}-dynamic-energy"] = 1 - mean(study, {name: cost.total for name, cost in each.items()})
            results[f"{start}-dynamic-overhead"] = mean(study, {name: cost.added for name, cost in each.items()})
    return results


def _storage() -> dict[str, Measured]:
    return {"bow-rfc-storage-ratio": costs.added_kb(RFC) / costs.added_kb(HALF)}


PARTS: Mapping[str, Part] = {
    "code": Part((), lambda study: table_31()),
    "reuse": Part(REUSE, _reuse),
    "destinations": Part((replayed(bow_wr(CHOSEN)),), _destinations),
    "sources": Part((SOURCES,), _sources),
    "baseline": Part((PLAIN,), _baseline),
    "occupancy": Part((timed(bow_wr(CHOSEN)),), _occupancy),
    "cycles": Part(COMPARED, _cycles),
    "wp": Part((PLAIN, timed(bow_wr(CHOSEN))), _gain_of_wp),
    "collection": Part((PLAIN, timed(bow(CHOSEN))), _collection),
    "energy": Part((PLAIN, timed(bow(CHOSEN)), timed(bow_wr(CHOSEN))), _energy),
    "storage": Part((), lambda study: _storage()),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
