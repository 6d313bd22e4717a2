"""What the study says of a design: accesses by level, energy, cycles and storage beside the reuse cache alone.

A design stands over the reuse cache where the machine has one, and is divided by the reuse cache alone; on a machine
with collectors it is divided by the plain register file.  Means over workloads are geometric, as ratios are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.sweep.ranking import ENERGY, Comparison, Place, Results
from warpreg_workbench.modern_gpu.all_warps import FEW
from warpreg_workbench.modern_gpu.study import PLAIN, REUSE, SIDES, TECHNOLOGIES, WINDOW, DesignMeasurement, Side

LEAKAGE = "leakage_normalized"
LEVELS_BELOW = ("mrf", "reuse")
"""Levels that are not a design's own."""
Rows = Mapping[str, Mapping[str, Any]]
"""By workload."""


@dataclass(frozen=True, slots=True)
class Case:
    """What changes: nothing, the reuse cache under the designs, the code, the machine, or the technology."""

    name: str
    side: Side = WINDOW
    technology: str = TECHNOLOGIES[0]
    over: bool = True


CASES = (
    Case("h100, ptxas"),
    Case("no reuse cache", over=False),
    *(Case(side.name, side, over=side.has_reuse) for side in SIDES[1:]),
    *(Case(f"technology {name}", technology=name) for name in TECHNOLOGIES[1:]),
)


@dataclass(frozen=True, slots=True)
class DesignFigures:
    """A design in a case, divided by the base: accesses of the register file, of the reuse cache and of its own levels,
    of the accesses of the plain register file; dynamic energy, and that if only a few active warps had entries; leakage
    of all SMs, None without a model of it; speed, with the least and the most; KiB added to an SM beside the base; on
    so many workloads.
    """

    design: str
    mrf: float
    reuse: float
    own: float
    energy: float
    few_warps: float
    leakage: float | None
    speed: float
    slowest: float
    fastest: float
    kib: float
    workloads: int


def rows_of(measurements: Iterable[DesignMeasurement], case: Case, design: str) -> Rows:
    """The rows of a design in a case that have a result."""
    over = case.over and design not in (PLAIN, REUSE)
    return {
        one.row["workload"]: one.row
        for one in measurements
        if (one.side, one.design, one.over, one.row["technology"]) == (case.side.name, design, over, case.technology)
        if "error" not in one.row
    }


def base_of(case: Case) -> str:
    """What designs are divided by."""
    return REUSE if case.side.has_reuse else PLAIN


def figures(found: Sequence[DesignMeasurement], case: Case) -> list[DesignFigures]:
    """All designs of a case, the least energy first."""
    names = dict.fromkeys(one.design for one in found if one.side == case.side.name)
    made = (_figures(found, case, name) for name in names if name != base_of(case))
    return sorted((one for one in made if one is not None), key=lambda one: one.energy)


def _figures(found: Sequence[DesignMeasurement], case: Case, design: str) -> DesignFigures | None:
    base, own, plain = (rows_of(found, case, name) for name in (base_of(case), design, PLAIN))
    shared = [name for name in own if name in base]
    if not shared:
        return None
    speeds = [base[name]["cycles"] / own[name]["cycles"] for name in shared]
    mrf, reuse, above = zip(*(accesses(own[name], plain[name]) for name in shared), strict=True)
    added = max(own[name].get("added_bytes") or 0.0 for name in shared)
    before = max(base[name].get("added_bytes") or 0.0 for name in shared) if case.over and design != PLAIN else 0.0
    energy, few_warps = (
        geometric_mean([own[name][column] / base[name][column] for name in shared])
        for column in ("energy_normalized", FEW)
    )
    leaks = [own[name][LEAKAGE] / base[name][LEAKAGE] for name in shared if LEAKAGE in own[name]]
    return DesignFigures(
        design, fmean(mrf), fmean(reuse), fmean(above), energy, few_warps, geometric_mean(leaks) if leaks else None,
        geometric_mean(speeds), min(speeds), max(speeds), (added - before) / 1024, len(shared),
    )  # fmt: skip


def accesses(row: Mapping[str, Any], plain: Mapping[str, Any]) -> tuple[float, float, float]:
    """Accesses of the register file, the reuse cache and all other levels, of those of the plain register file."""
    whole = plain["mrf_reads"] + plain["mrf_writes"]
    of = {name: row[f"{name}_reads"] + row[f"{name}_writes"] for name in level_names(row)}
    mrf, reuse = of.pop("mrf"), of.pop("reuse", 0.0)
    return mrf / whole, reuse / whole, sum(of.values()) / whole


def level_names(row: Mapping[str, Any]) -> list[str]:
    """The levels of a row, as its columns name them."""
    names = [key.removesuffix("_reads") for key in row if key.endswith("_reads")]
    return [name for name in names if f"{name}_writes" in row]


def ranking(measurements: Sequence[DesignMeasurement], by: str = ENERGY) -> tuple[Results, list[Comparison]]:
    """The designs over all cases, and each beside the next one, the best first.

    A design's row is that over the reuse cache where the machine has one; `REUSE` is what it stands over.
    """
    labelled = []
    for one in measurements:
        side = next(side for side in SIDES if side.name == one.side)
        is_base = one.design == (REUSE if side.has_reuse else PLAIN)
        if is_base or (one.over == side.has_reuse and one.design not in (PLAIN, REUSE)):
            labelled.append((REUSE if is_base else one.design, one.row))
    results = Results.of(labelled, by)
    ranked = results.ranked()
    beside = (results.compared(one, two) for one, two in itertools.pairwise(ranked))
    return results, [one for one in beside if one is not None]


def turned_by(one: Comparison) -> tuple[list[str], int]:
    """The machines, codes, technologies and ends of a band that turn a comparison, and how many workloads do."""
    axes = [case for case, _ in one.turned if not case.startswith("workload=")]
    return axes, len(one.turned) - len(axes)


def cases_of(places: Iterable[Place]) -> int:
    """In how many cases a design has results: places that differ in more than the workload."""
    return len({tuple(axis for axis in place if axis[0] != "workload") for place in places})
