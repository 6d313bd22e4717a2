"""Hybrid CMOS-TFET register file: its printed results on the benchmarks that its text names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpreg import energy
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers.part import Part, findings_of
from warpreg_papers.tfet import costs, frames
from warpreg_papers.tfet.costs import Cost
from warpreg_papers.tfet.designs import (
    ALL_TFET,
    BASELINE,
    CMOS_RA,
    COMPUTE,
    DROWSY,
    IDEAL,
    MEASURES,
    MEM_RA,
    MEMORY,
    MM,
    SLA,
    STAGE,
    TECHNOLOGY,
    WORKLOADS,
    timed,
)
from warpreg_papers.tfet.frames import mean, time, totals

__all__ = ["MEASURES", "PARTS", "UNMEASURABLE", "WORKLOADS", "findings"]

SAME = 0.02
"""Times and energies that differ by less are alike."""
Found = Mapping[str, Measured | None]


def _area() -> Found:
    added = costs.added_area()
    return {"tfet-renaming-area": added["renaming"], "tfet-total-area": added["total"]}


def _stalls(study: Study) -> Found:
    shares = frames.stalls(study)
    return {"tfet-stall-share": mean(study, shares), "tfet-stall-compute": mean(study, shares, COMPUTE)}


def _slowdown(study: Study, variant: Variant, of: Sequence[str] = ()) -> float | None:
    value = mean(study, time(study, variant), of)
    return None if value is None else value - 1


def _saving(study: Study, variant: Variant, of: Sequence[str] = ()) -> float | None:
    value = mean(study, totals(frames.energies(study, variant)), of)
    return None if value is None else 1 - value


def _stage(study: Study) -> Found:
    return {"tfet-renaming-slowdown": _slowdown(study, STAGE)}


def _all_tfet(study: Study) -> Found:
    return {
        "tfet-all-tfet-slowdown": _slowdown(study, ALL_TFET),
        "tfet-all-tfet-energy": mean(study, totals(frames.energies(study, ALL_TFET))),
    }


def _drowsy(study: Study) -> Found:
    return {
        "tfet-drowsy-slowdown": _slowdown(study, DROWSY),
        "tfet-drowsy-energy-saving": _saving(study, DROWSY),
    }


def _cmos_ra(study: Study) -> Found:
    return {
        "tfet-cmos-ra-slowdown": _slowdown(study, CMOS_RA),
        "tfet-cmos-ra-mm": _slowdown(study, CMOS_RA, (MM,)),
        "tfet-cmos-ra-energy-saving": _saving(study, CMOS_RA),
    }


def _mem_ra(study: Study) -> Found:
    added = {name: cost.added for name, cost in frames.energies(study, MEM_RA).items()}
    saving = _saving(study, MEM_RA)
    results: dict[str, Measured | None] = {
        "tfet-power-overhead": mean(study, added),
        "tfet-mem-ra-energy-saving": saving,
        "tfet-mem-ra-slowdown": _slowdown(study, MEM_RA),
        "tfet-mem-ra-sm-energy": None if saving is None else energy.load(TECHNOLOGY).chip.saved(saving).of_sm,
        "tfet-mem-ra-mem-energy-saving": _saving(study, MEM_RA, MEMORY),
        "tfet-mem-ra-mem-slowdown": _slowdown(study, MEM_RA, MEMORY),
    }
    for label, of in (("tfet-mem-ra", ()), ("tfet-mem-ra-mem", MEMORY)):
        results[f"{label}-dynamic"] = mean(study, frames.saved(study, MEM_RA, _dynamic), of)
        results[f"{label}-leakage"] = mean(study, frames.saved(study, MEM_RA, _leakage), of)
    return results


def _dynamic(cost: Cost) -> float:
    return cost.dynamic


def _leakage(cost: Cost) -> float:
    return cost.leakage


def _in_words(study: Study) -> Found:
    """The ideal size is a little faster than MEM_RA and saves a little less, on MM neither costs nor saves anything;
    SLA is slowed down more than the mean by both; MM is by MEM_RA.
    """
    plain, ideal = time(study, MEM_RA), time(study, IDEAL)
    mean_plain, mean_ideal = mean(study, plain), mean(study, ideal)
    saving, less = _saving(study, MEM_RA), _saving(study, IDEAL)
    if mean_plain is None or mean_ideal is None or saving is None or less is None:
        return {}
    results: dict[str, Measured | None] = {}
    if MM in plain and MM in ideal:
        left = totals(frames.energies(study, IDEAL))[MM]
        alike = abs(ideal[MM] - 1) < SAME and abs(left - 1) < SAME
        results["tfet-ideal-mem-ra"] = mean_ideal <= mean_plain and less <= saving and alike
        results["tfet-mm-mem-ra"] = plain[MM] > max(1 + SAME, mean_plain)
    if SLA in plain and SLA in ideal:
        results["tfet-sla-degradation"] = plain[SLA] > max(1 + SAME, mean_plain) and ideal[SLA] > max(
            1 + SAME, mean_ideal
        )
    return results


def _known(found: Callable[[Study], Found]) -> Callable[[Study], Mapping[str, Measured]]:
    """The results that have a value: a class without workloads has none."""
    return lambda study: {result: value for result, value in found(study).items() if value is not None}


PARTS: Mapping[str, Part] = {
    "area": Part((), _known(lambda study: _area())),
    "stalls": Part((BASELINE,), _known(_stalls)),
    "stage": Part((BASELINE, timed(STAGE)), _known(_stage)),
    "all-tfet": Part((BASELINE, timed(ALL_TFET)), _known(_all_tfet)),
    "drowsy": Part((BASELINE, timed(DROWSY)), _known(_drowsy)),
    "cmos-ra": Part((BASELINE, timed(CMOS_RA)), _known(_cmos_ra)),
    "mem-ra": Part((BASELINE, timed(MEM_RA)), _known(_mem_ra)),
    "words": Part((BASELINE, timed(MEM_RA), timed(IDEAL)), _known(_in_words)),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
