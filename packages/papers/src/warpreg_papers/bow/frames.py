"""Figures of the study as data frames, one row per workload and design.

Shares and ratios of a mean are arithmetic means over workloads, as the averages of the chapter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

import pandas as pd

from warpreg.evaluation.measures.cost import Cost
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg.replay import Counts
from warpreg_papers.bow import costs
from warpreg_papers.bow.designs import (
    CHOSEN,
    DESIGNS,
    FAMILIES,
    GENERATIONS,
    HALF,
    LIMIT,
    MRF,
    PLAIN,
    RFC,
    SOURCES,
    TIMED_WINDOWS,
    WINDOWS,
    bow,
    bow_wr,
    replayed,
    timed,
)

READS, WRITES = "reads", "writes"
CLASSES: Mapping[str, str] = {
    "to_file": "register file only",
    "to_collector": "collector only",
    "to_both": "both",
    "to_neither": "neither",
}
"""Destinations of results by the event that counts them (Figure 3.7)."""
OCCUPANCY = ("0", "1", "2", "3")
PANELS = {"BOW": "(a) BOW", "BOW-WR": "(b) BOW-WR"}


def mean(study: Study, values: Mapping[str, float]) -> float:
    """Arithmetic mean over workloads."""
    return fmean(values.values(), study.weights_of(values))


def eliminated(counts: Counts, plain: Counts) -> dict[str, float]:
    """Reads and writes of the register file that a design avoids, divided by all of them; evictions are writes."""
    return {
        READS: 1 - ratio(counts.reads("MRF"), plain.reads()),
        WRITES: 1 - ratio(counts.writes("MRF", moves=True), plain.writes()),
    }


def bypassed(study: Study, window: int) -> dict[str, dict[str, float]]:
    """Figure 3.3 for a window: shares of reads and writes by workload.

    Reads are those that BOW forwards, and writes those that BOW-WR avoids with the compiler's hints.
    """
    reads, writes = replayed(bow(window)), replayed(bow_wr(window))
    shares: dict[str, dict[str, float]] = {READS: {}, WRITES: {}}
    for name in study.in_all((MRF, reads, writes)):
        plain = study[MRF][name]
        shares[READS][name] = eliminated(study[reads][name], plain)[READS]
        shares[WRITES][name] = eliminated(study[writes][name], plain)[WRITES]
    return shares


def figure_33(study: Study) -> pd.DataFrame:
    """Figure 3.3: accesses eliminated by window and workload."""
    rows = [
        {"workload": name, "window": window, "accesses": what, "eliminated": share}
        for window in WINDOWS
        for what, by_workload in bypassed(study, window).items()
        for name, share in by_workload.items()
    ]
    return pd.DataFrame(rows, columns=["workload", "window", "accesses", "eliminated"])


def generations(study: Study) -> pd.DataFrame:
    """Accesses that BOW-WR eliminates in time on each machine, where results may arrive after their window."""
    rows = []
    for label, machine in GENERATIONS.items():
        for name, sample in study[timed(bow_wr(CHOSEN), machine)].items():
            for what, share in eliminated(sample.counts, sample.plain).items():
                rows.append({"workload": name, "machine": label, "accesses": what, "eliminated": share})
    return pd.DataFrame(rows, columns=["workload", "machine", "accesses", "eliminated"])


UNTIL_DISPATCH = "all, until dispatch"
"""The other measure of Figure 3.4."""


def collection_shares(sample: Sample) -> dict[str, float]:
    """Share of its execution time that an instruction with a result spends collecting operands, until its last source
    is read (Figure 3.4).

    The chapter does not say when collection ends.  An instruction stays in the stage until its unit takes it: the share
    `UNTIL_DISPATCH` is that of the time to dispatch, of all instructions.  Those without a result end with their last
    source here, so it is an upper estimate.
    """
    times = sample.resources
    memory = times["collecting_memory"], times["running_memory"]
    others = times["collecting"], times["running"]
    return {
        "memory": ratio(*memory),
        "others": ratio(*others),
        "all": ratio(memory[0] + others[0], memory[1] + others[1]),
        UNTIL_DISPATCH: ratio(sample.until_dispatch, memory[1] + others[1] + times["collecting_without_result"]),
    }


def figure_34(study: Study) -> pd.DataFrame:
    """Figure 3.4: time in operand collection of memory and other instructions, in the baseline, by both measures."""
    rows = [
        {"workload": name, "instructions": what, "share": share}
        for name, sample in study[PLAIN].items()
        for what, share in collection_shares(sample).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "instructions", "share"])


def destinations(study: Study) -> dict[str, dict[str, float]]:
    """By workload, shares of computed operands by the destination that the compiler gives them (Figure 3.7)."""
    found = {}
    for name, counts in study[replayed(bow_wr(CHOSEN))].items():
        whole = sum(counts.events[event] for event in CLASSES)
        found[name] = {label: ratio(counts.events[event], whole) for event, label in CLASSES.items()}
    return found


def figure_37(study: Study) -> pd.DataFrame:
    """Figure 3.7: destinations of computed operands."""
    return _shares(destinations(study), "destination", "operands")


def figure_38(study: Study) -> pd.DataFrame:
    """Figure 3.8: executed instructions by the entries of a plain collector that their sources take."""
    by_workload = {name: dict(zip(OCCUPANCY, shares, strict=True)) for name, shares in study[SOURCES].items()}
    return _shares(by_workload, "registers", "instructions")


def over_half(study: Study) -> dict[str, float]:
    """Share of cycles in which a collector with a warp uses more than half of its 12 entries (Figure 3.9)."""
    samples = study[timed(bow_wr(CHOSEN))]
    return {name: ratio(one.resources["boc_over_half"], one.warp_cycles) for name, one in samples.items()}


def figure_39(study: Study) -> pd.DataFrame:
    """Figure 3.9: that share, and the mean number of entries in use."""
    samples = study[timed(bow_wr(CHOSEN))]
    rows = [
        {
            "workload": name,
            "over half": share,
            "entries": ratio(samples[name].resources["boc_entries"], samples[name].warp_cycles),
        }
        for name, share in over_half(study).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "over half", "entries"])


def gains(study: Study, variant: Variant) -> dict[str, float]:
    """IPC of a design divided by that of the baseline, minus 1; by workload."""
    return {name: one.ipc / plain.ipc - 1 for name, one, plain in _pairs(study, variant)}


def figure_310(study: Study) -> pd.DataFrame:
    """Figure 3.10: IPC gain by window."""
    return _by_window(study, gains, "gain")


def figure_311(study: Study) -> pd.DataFrame:
    """Figure 3.11: IPC gain of BOW-WR with half of the entries, beside the full size."""
    return _compared(study, {"12 entries": bow_wr(CHOSEN), "6 entries": HALF})


def ideal_gains(study: Study) -> dict[str, float]:
    """IPC gain if operands took no time, the most that any operand path can gain; by workload."""
    return {name: study[LIMIT][name].ipc / study[PLAIN][name].ipc - 1 for name in study.in_all((PLAIN, LIMIT))}


def figure_limit(study: Study) -> pd.DataFrame:
    """IPC gain if operands took no time, beside that of BOW."""
    limit = ideal_gains(study)
    rows = [{"workload": name, "design": "no time for operands", "gain": gain} for name, gain in limit.items()]
    return pd.concat(
        [pd.DataFrame(rows, columns=["workload", "design", "gain"]), _compared(study, {"BOW": bow(CHOSEN)})]
    )


def figure_rfc(study: Study) -> pd.DataFrame:
    """IPC gain of the register file cache, beside that of the half-size BOW-WR (section 3.5.1)."""
    return _compared(study, {"RFC": RFC, "BOW-WR, 6 entries": HALF})


def collection(study: Study, variant: Variant) -> dict[str, float]:
    """Cycles of all instructions in operand collection, divided by those in the baseline; by workload."""
    return {name: ratio(collecting(one), collecting(plain)) for name, one, plain in _pairs(study, variant)}


def collecting(sample: Sample) -> int:
    """Cycles that instructions took from their issue until their last source was read, summed over all."""
    return sum(cycles for name, cycles in sample.resources.items() if name.startswith("collecting"))


def figure_312(study: Study) -> pd.DataFrame:
    """Figure 3.12: cycles in operand collection, BOW."""
    frame = _by_window(study, collection, "cycles")
    return frame[frame["panel"] == PANELS["BOW"]].drop(columns="panel")


def energies(study: Study, variant: Variant) -> dict[str, Cost]:
    """Dynamic energy normalized to the baseline, by workload (Figure 3.13)."""
    return {name: costs.dynamic(one, plain, variant) for name, one, plain in _pairs(study, variant)}


def overheads_by_power(study: Study, variant: Variant) -> dict[str, float]:
    """The other reading of the overhead of dynamic energy, by workload (`costs.overhead_by_power`)."""
    return {name: costs.overhead_by_power(one, plain) for name, one, plain in _pairs(study, variant)}


def figure_313(study: Study) -> pd.DataFrame:
    """Figure 3.13: energy of the register file, and overhead, of either design with the paper's window."""
    rows = []
    for design, variant in DESIGNS.items():
        for name, cost in energies(study, variant).items():
            for part, value in (("register file", cost.register_file), ("overhead", cost.added)):
                rows.append({"workload": name, "panel": PANELS[design], "part": part, "energy": value})
    return pd.DataFrame(rows, columns=["workload", "panel", "part", "energy"])


def _pairs(study: Study, variant: Variant) -> Iterator[tuple[str, Sample, Sample]]:
    """Workloads with the sample of a design and that of the baseline."""
    for name in study.in_all((PLAIN, timed(variant))):
        yield name, study[timed(variant)][name], study[PLAIN][name]


def _by_window(study: Study, values: Callable[[Study, Variant], Mapping[str, float]], column: str) -> pd.DataFrame:
    rows = []
    for design, family in FAMILIES.items():
        for window in TIMED_WINDOWS:
            for name, value in values(study, family(window)).items():
                rows.append({"workload": name, "panel": PANELS[design], "window": window, column: value})
    return pd.DataFrame(rows, columns=["workload", "panel", "window", column])


def _compared(study: Study, variants: Mapping[str, Variant]) -> pd.DataFrame:
    rows = [
        {"workload": name, "design": label, "gain": gain}
        for label, variant in variants.items()
        for name, gain in gains(study, variant).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "design", "gain"])


def _shares(by_workload: Mapping[str, Mapping[str, float]], what: str, value: str) -> pd.DataFrame:
    rows = [
        {"workload": name, what: label, value: share}
        for name, shares in by_workload.items()
        for label, share in shares.items()
    ]
    return pd.DataFrame(rows, columns=["workload", what, value])
