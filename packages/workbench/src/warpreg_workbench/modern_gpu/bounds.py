"""What the parts that no technology prices mean for the energy of a design, in a case of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy.optimize import brentq

from warpreg.evaluation.runs.row import geometric_mean
from warpreg_workbench.modern_gpu.design_figures import Case, base_of, rows_of
from warpreg_workbench.modern_gpu.study import PLAIN, DesignMeasurement
from warpreg_workbench.modern_gpu.unpriced import Estimate, Row


@dataclass(frozen=True, slots=True)
class Bound:
    """What an estimate means in a case; None where nothing is known, used, or saved.

    pJ a use; uses of each access of the plain register file; energy beside the base; the pJ a use at which the mean
    saving is gone, and that of the first workload.
    """

    pj: float | None
    uses: float
    energy: float | None
    gone: float | None
    first_gone: float | None


def bound(measurements: Sequence[DesignMeasurement], case: Case, design: str, one: Estimate) -> Bound:
    """What an estimate means for a design in a case."""
    own, base, plain = (rows_of(measurements, case, name) for name in (design, base_of(case), PLAIN))
    rows = [own[name] for name in own if name in base]
    bases = [base[row["workload"]]["energy_normalized"] for row in rows]
    ratios = [row["energy_normalized"] / whole for row, whole in zip(rows, bases, strict=True)]
    to_ratio = [row["energy_normalized"] / row["energy_pj"] / whole for row, whole in zip(rows, bases, strict=True)]
    uses = [one.uses(row) for row in rows]
    added = None if one.pj is None else [one.pj(row) for row in rows]
    shares = [ratio * factor for ratio, factor in zip(uses, to_ratio, strict=True)]
    return Bound(
        pj=sum(added) / sum(uses) if added and sum(uses) else None,
        uses=fmean(use / _accesses(plain[row["workload"]]) for use, row in zip(uses, rows, strict=True)),
        energy=None if added is None else geometric_mean(
            [ratio + pj * factor for ratio, pj, factor in zip(ratios, added, to_ratio, strict=True)]
        ),
        gone=gone_at(ratios, shares),
        first_gone=min((gone for pair in zip(ratios, shares, strict=True) if (gone := _gone(*pair))), default=None),
    )  # fmt: skip


def gone_at(ratios: Sequence[float], shares: Sequence[float]) -> float | None:
    """The pJ a use at which the geometric mean of energies is 1; ``shares`` are energies of uses at 1 pJ each.  None if
    nothing is saved or used.
    """

    def saved(pj: float) -> float:
        return 1 - geometric_mean([ratio + pj * share for ratio, share in zip(ratios, shares, strict=True)])

    if saved(0.0) <= 0 or not any(shares):
        return None
    most = 1.0
    while saved(most) > 0:
        most *= 2
    return float(brentq(saved, 0.0, most))


def _gone(ratio: float, share: float) -> float | None:
    return (1 - ratio) / share if ratio < 1 and share else None


def _accesses(plain: Row) -> float:
    return float(plain["mrf_reads"] + plain["mrf_writes"])


def hit_share(measurements: Sequence[DesignMeasurement], case: Case, design: str) -> float | None:
    """By how much hits of the first level grew beside the base, of the fetches of registers; None without fetches."""
    own, base = (rows_of(measurements, case, name) for name in (design, base_of(case)))
    shared = [name for name in own if name in base]
    fetched = sum(own[name]["events"]["memory reads"] for name in shared)
    more = sum(_first_level_hits(own[name]) - _first_level_hits(base[name]) for name in shared)
    return more / fetched if fetched else None


def _first_level_hits(row: Row) -> int:
    return int(row["timing"]["memory"]["l1_hits"])
