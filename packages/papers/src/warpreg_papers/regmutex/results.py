"""RegMutex (thesis of 2021, chapter 4): its printed results on its sixteen kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers.part import Part, findings_of
from warpreg_papers.regmutex.designs import (
    COMPARED,
    MEASURES,
    OWF,
    PAIRED,
    REGMUTEX,
    RFV,
    SWEEP,
    WORKLOADS,
    measures,
    plain,
    under,
)
from warpreg_papers.regmutex.frames import at_once, increases, mean, picks, raised, reductions, sample_of
from warpreg_papers.regmutex.kernels import FULL_FILE, FULL_GROUP, HALF_FILE, HALF_GROUP

__all__ = ["MEASURES", "PARTS", "UNMEASURABLE", "WORKLOADS", "findings"]

POINTS = 100
LARGE_SETS = ("dwt2d", "particlefilter", "sad")
"""Kernels that §4.4.1 says gain less than BFS, because their sections are few."""
RIVALS = {OWF: "owf", RFV: "rfv"}


def _full(study: Study) -> dict[str, Measured]:
    less = reductions(study, under(REGMUTEX, FULL_GROUP))
    results: dict[str, Measured] = {}
    if less:
        results["regmutex-cycles-reduction"] = mean(study, less)
        results["regmutex-compare-regmutex-reduction"] = mean(study, less)
    if "bfs" in less:
        results["regmutex-cycles-reduction-bfs"] = less["bfs"]
    if {"bfs", *LARGE_SETS} <= less.keys():
        results["regmutex-sad-vs-bfs"] = all(less[name] < less["bfs"] and _fewer(study, name) for name in LARGE_SETS)
    return results


def _fewer(study: Study, name: str) -> bool:
    """Whether a kernel has fewer sections than BFS."""
    own, bfs = (sample_of(study, under(REGMUTEX, FULL_GROUP), one) for one in (name, "bfs"))
    return own is not None and bfs is not None and 0 < own.sections < bfs.sections


def _half(study: Study) -> dict[str, Measured]:
    none, more = increases(study, plain(HALF_GROUP)), increases(study, under(REGMUTEX, HALF_GROUP))
    results: dict[str, Measured] = {}
    if none:
        results["regmutex-half-increase-none"] = mean(study, none)
        results["regmutex-compare-none-half"] = mean(study, none)
    if more:
        results["regmutex-half-increase"] = mean(study, more)
        results["regmutex-compare-regmutex-half"] = mean(study, more)
    better = raised(study, REGMUTEX, HALF_GROUP)
    if len(better) == len(HALF_FILE):
        results["regmutex-half-occupancy-improved"] = sum(better.values())
    if "merge-sort" in better and "merge-sort" in none:
        results["regmutex-mergesort-slowdown"] = (
            not better["merge-sort"]
            and more["merge-sort"] > none["merge-sort"]
            and not any(_is_slower(study, group, name) for group, name in _others("merge-sort"))
        )
    return results


def _others(but: str) -> list[tuple[str, str]]:
    groups = ((FULL_GROUP, FULL_FILE), (HALF_GROUP, HALF_FILE))
    return [(group, name) for group, names in groups for name in names if name != but]


def _is_slower(study: Study, group: str, name: str) -> bool:
    """Whether RegMutex costs a kernel cycles, on the register file of its group."""
    before, after = sample_of(study, plain(group), name), sample_of(study, under(REGMUTEX, group), name)
    return before is not None and after is not None and after.cycles > before.cycles


def _compared(study: Study, group: str) -> dict[str, Measured]:
    change = reductions if group == FULL_GROUP else increases
    what = "reduction" if group == FULL_GROUP else "half"
    means = {design: mean(study, values) for design in COMPARED if (values := change(study, under(design, group)))}
    results: dict[str, Measured] = {
        f"regmutex-compare-{name}-{what}": means[design] for design, name in RIVALS.items() if design in means
    }
    if group == FULL_GROUP and {RFV, REGMUTEX} <= means.keys():
        results["regmutex-rfv-advantage"] = POINTS * (means[RFV] - means[REGMUTEX])
    return results


def _paired_full(study: Study) -> dict[str, Measured]:
    less, default = (reductions(study, under(design, FULL_GROUP)) for design in (PAIRED, REGMUTEX))
    results: dict[str, Measured] = {}
    if less:
        results["regmutex-paired-reduction"] = mean(study, less)
    if less and default:
        results["regmutex-paired-vs-default"] = POINTS * (mean(study, default) - mean(study, less))
    better = raised(study, PAIRED, FULL_GROUP)
    if len(better) == len(FULL_FILE):
        results["regmutex-paired-occupancy-improved"] = sum(better.values())
    if "sad" in less and "sad" in default:
        shares = [at_once(study, design, FULL_GROUP).get("sad") for design in (PAIRED, REGMUTEX)]
        paired, alone = (0.0 if share is None else share for share in shares)
        results["regmutex-paired-sad"] = less["sad"] > default["sad"] and paired > alone
    return results


def _paired_half(study: Study) -> dict[str, Measured]:
    more, default = (increases(study, under(design, HALF_GROUP)) for design in (PAIRED, REGMUTEX))
    better = raised(study, PAIRED, HALF_GROUP)
    gaining = {name: value for name, value in more.items() if better.get(name)}
    results: dict[str, Measured] = {}
    if more:
        results["regmutex-paired-half-increase"] = mean(study, gaining or more)
    if len(better) == len(HALF_FILE):
        results["regmutex-paired-half-unchanged"] = len(better) - sum(better.values())
    if more and default:
        results["regmutex-paired-half-vs-default"] = POINTS * (mean(study, more) - mean(study, default))
    return results


def _sweep(study: Study) -> dict[str, Measured]:
    """The rule's size is the best or second best of those swept, for each kernel that has one."""
    ranks = []
    for size, by_size in picks(study).values():
        own = by_size.get(size)
        if own is None:
            continue
        ranks.append(sum(value < own for value in by_size.values()))
    return {"regmutex-heuristic-quality": max(ranks) <= 1} if ranks else {}


PARTS: Mapping[str, Part] = {
    "full": Part(measures(FULL_GROUP, [REGMUTEX]), _full, tuple(FULL_FILE)),
    "half": Part((*measures(HALF_GROUP, [REGMUTEX]), *measures(FULL_GROUP, [REGMUTEX])), _half),
    "compare": Part(measures(FULL_GROUP, COMPARED), partial(_compared, group=FULL_GROUP), tuple(FULL_FILE)),
    "compare-half": Part(measures(HALF_GROUP, COMPARED), partial(_compared, group=HALF_GROUP), tuple(HALF_FILE)),
    "paired": Part(measures(FULL_GROUP, [PAIRED, REGMUTEX]), _paired_full, tuple(FULL_FILE)),
    "paired-half": Part(measures(HALF_GROUP, [PAIRED, REGMUTEX]), _paired_half, tuple(HALF_FILE)),
    "sweep": Part(SWEEP, _sweep, tuple(FULL_FILE)),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
