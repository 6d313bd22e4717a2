"""What the samples of a study say of each workload: Figures 2.2 to 2.4, 2.6 and 2.13 to 2.18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean, harmonic_mean

import pandas as pd

from warpreg import gpu
from warpreg.evaluation.measures.cost import Cost
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.corf import costs
from warpreg_papers.corf.designs import CORF, MACHINE, PACKING, PLAIN, SAMPLES, class_of, timed

BYTES = {"one_byte": 1, "two_bytes": 2, "three_bytes": 3, "four_bytes": 4}
ALL = "all"
"""Workloads of either class."""


def names(study: Study) -> list[str]:
    """The workloads that all designs of the study have measured."""
    return study.in_all(SAMPLES)


def mean(study: Study, values: Mapping[str, float], of: str = ALL) -> float | None:
    """The arithmetic mean over the workloads of a class; None if there are none."""
    chosen = [name for name in values if of in (ALL, class_of(name))]
    return fmean([values[name] for name in chosen], study.weights_of(chosen)) if chosen else None


def by_workload(study: Study, variant: Variant, value: Callable[[Sample, Sample], float]) -> dict[str, float]:
    """A value of a design's sample and that of the main register file, by workload."""
    samples, plain = study[timed(variant)], study[PLAIN]
    return {name: value(samples[name], plain[name]) for name in names(study)}


def share(part: str, whole: str) -> Callable[[Sample, Sample], float]:
    """One event of a design divided by another."""
    return lambda sample, plain: ratio(sample.counts.events[part], sample.counts.events[whole])


def widths(study: Study) -> pd.DataFrame:
    """Figure 2.2: shares of operands, read or written, by the bytes that they need; by workload."""
    rows = []
    for name in names(study):
        events = study[timed(PACKING)][name].counts.events
        whole = sum(events[event] for event in BYTES)
        rows += [
            {"workload": name, "bytes": size, "operands": ratio(events[event], whole)} for event, size in BYTES.items()
        ]
    return pd.DataFrame(rows, columns=["workload", "bytes", "operands"])


def unused(study: Study) -> pd.DataFrame:
    """Figure 2.3: share of the bandwidth of the register file that carries no needed byte, by workload."""
    frame = widths(study)
    frame["unused"] = frame["operands"] * (4 - frame["bytes"]) / 4
    return frame.groupby("workload", sort=False, as_index=False)["unused"].sum()


def coalesceable(study: Study) -> dict[str, float]:
    """Figure 2.4: instructions with two or more source registers that read two of at most four bytes together."""
    return by_workload(study, PACKING, share("coalesceable", "multiple_sources"))


def coalesced(study: Study, variant: Variant) -> dict[str, float]:
    """Figure 2.13: of these instructions, those with two registers in one read."""
    return by_workload(study, variant, share("coalesced", "multiple_sources"))


def pair_success(study: Study) -> dict[str, float]:
    """Figure 2.6: of the pairs of a warp of which both registers have had a place, those that have shared a physical
    register.  The figure counts combinations of pairs that the compiler has identified, not attempts.
    """
    return _success(study, "pairs_packed", "pairs_placed")


def placement_success(study: Study) -> dict[str, float]:
    """Beside Figure 2.6: of the registers placed when their buddy had a place, those that went beside it."""
    return _success(study, "buddies_packed", "buddies_placed")


def _success(study: Study, part: str, whole: str) -> dict[str, float]:
    """One event of CORF divided by another; a workload without the latter is left out."""
    samples = study[timed(CORF)]
    found = by_workload(study, CORF, share(part, whole))
    return {name: value for name, value in found.items() if samples[name].counts.events[whole]}


def accesses_removed(study: Study, variant: Variant) -> dict[str, float]:
    """Figure 2.14: accesses of the register file that are avoided, of all: reads, writes, and what the design adds."""
    return by_workload(study, variant, lambda sample, plain: sample.counts.elided(plain.counts))


def speed(study: Study, variant: Variant, over: Variant | None = None) -> dict[str, float]:
    """Figure 2.15: instructions per cycle over the baseline, or over another design; metadata instructions take time
    and do not count.
    """
    samples, others = study[timed(variant)], study[timed(over)]
    return {name: samples[name].ipc_of_kernel / others[name].ipc_of_kernel for name in names(study)}


def size(study: Study, variant: Variant) -> dict[str, float]:
    """Figure 2.16: physical registers in use, of the registers of the warps that run, both over all cycles."""

    def registers(sample: Sample, plain: Sample) -> float:
        return ratio(sample.resources["physical registers"], sample.resources["architected registers"])

    return by_workload(study, variant, registers)


def size_of_file(study: Study, variant: Variant) -> dict[str, float]:
    """Beside Figure 2.16: physical registers in use, of all of the register file, those that no warp has included."""
    all_of_them = gpu.load(MACHINE).warp_registers

    def registers(sample: Sample, plain: Sample) -> float:
        return ratio(sample.resources["physical registers"], sample.cycles * all_of_them)

    return by_workload(study, variant, registers)


def dynamic(study: Study, variant: Variant, *, by_slices: bool = False) -> dict[str, Cost]:
    """Figure 2.17: dynamic energy, normalized to the baseline; by workload."""
    samples, plain = study[timed(variant)], study[PLAIN]
    return {name: costs.dynamic(samples[name], variant, plain[name], by_slices=by_slices) for name in names(study)}


def overheads(study: Study, variant: Variant, logic: str) -> dict[str, float]:
    """Dynamic energy of what a design adds, of the baseline's, with its logic charged in a way of `costs.READINGS`."""
    samples, plain = study[timed(variant)], study[PLAIN]
    changed = costs.priced(variant, logic)
    return {name: costs.dynamic(samples[name], changed, plain[name]).added for name in names(study)}


def leakage(study: Study, variant: Variant) -> dict[str, Cost]:
    """Figure 2.18: leakage energy, normalized to the baseline; by workload."""
    samples, plain = study[timed(variant)], study[PLAIN]
    return {name: costs.leakage(samples[name], variant, plain[name]) for name in names(study)}


def leakage_of_warps(study: Study, variant: Variant) -> dict[str, Cost]:
    """Beside Figure 2.18: as if the registers of the warps that run were the whole register file, so that what no warp
    has is not saved.
    """
    found, left = leakage(study, variant), size(study, variant)
    slower = by_workload(study, variant, lambda sample, plain: ratio(sample.cycles, plain.cycles))
    return {name: Cost(left[name] * slower[name], found[name].added) for name in found}


def totals(each: Mapping[str, Cost]) -> dict[str, float]:
    """Normalized costs with what the design adds."""
    return {name: cost.total for name, cost in each.items()}


def added(each: Mapping[str, Cost]) -> dict[str, float]:
    """Costs of what the design adds, of the baseline."""
    return {name: cost.added for name, cost in each.items()}


def harmonic(study: Study, values: Mapping[str, float]) -> float | None:
    """The harmonic mean over all workloads; None if there are none."""
    return harmonic_mean(list(values.values()), study.weights_of(values)) if values else None
