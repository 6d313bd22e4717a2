"""The register file cache and two-level scheduler (ISCA 2011): its figures and tables on these workloads.

The paper's traces are proprietary; workloads represent its classes: suite ``shaders`` its games, all others its compute
traces, ``hpc`` and ``media`` two of its categories.  Averages are arithmetic means over workloads, as the paper's are
over traces; averages of traffic use the weights of the study, if it has any.  A warp leaves the active set at every
instruction that may have to wait for a long-latency result, independent of cycles (section 3.2).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd

from warpreg import energy, workloads
from warpreg.energy import Technology
from warpreg.energy.counts import Structure
from warpreg.evaluation.measures.ipc import ALL_WARPS, CacheIpc, Ipc
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies.ratios import mean_ratio, ratio, with_structures
from warpreg.evaluation.studies.study import Measure, Measured, Replay, Study, Usage
from warpreg.replay import Counts
from warpreg.replay.replay import Suspend
from warpreg_papers.code import MODERN, Code
from warpreg_papers.part import Part, findings_of
from warpreg_papers.rfc.readings import Change, both, compared

ENTRIES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
SWEPT_ENTRIES, SWEPT_WARPS = (4, 6, 8), (4, 6, 8)
CHOSEN_ENTRIES, CHOSEN_WARPS = 6, 8
LARGE = 16
"""Entries of the large cache for read allocation; the paper does not state its size."""
DISTANCES_MM = {"mrf0-rfc0": (0.0, 0.0), "mrf1-rfc1": (1.0, 1.0), "mrf1-rfc02": (1.0, 0.2), "mrf1-rfc0": (1.0, 0.0)}
CLASSES = ("compute", "shader")
ACTIVE_WARPS = (4, 6, 8, 16, ALL_WARPS)
LOSSLESS, MARKED = 0.01, 0.05
"""Losses of IPC that count as none and as marked: the paper describes losses of 1% and 5% in this way."""
TAGGED = CacheIpc(CHOSEN_WARPS)
MRF = Replay.of("mrf")
USAGE = Usage()


def hardware(entries: int) -> Replay:
    """The cache alone (section 3.1)."""
    return Replay.of("rfc", entries=entries)


def live(entries: int) -> Replay:
    """The cache without write-back of dead values."""
    return Replay.of("rfc", entries=entries, static_liveness=True)


def flushed(entries: int, bypass: bool = False) -> Replay:
    """The cache with the two-level scheduler (section 5.3); ``bypass`` adds its liveness-aware extension."""
    return Replay.of(
        "rfc",
        "static",
        entries=entries,
        static_liveness=True,
        around_long_latency=True,
        bypass_idle=bypass,
        idle_first=bypass,
    )


def waiting(rule: str) -> Replay:
    """The chosen cache with the two-level scheduler, by what a suspended warp waits for."""
    suspend, waits = WAITS[rule]
    return dataclasses.replace(flushed(CHOSEN_ENTRIES), suspend=suspend).with_values(waits=waits)


WAITS: Mapping[str, tuple[Suspend, str]] = {
    "what it needs": ("static", "needed"),
    "what it needs, barriers": ("barriers", "needed"),
    "all its loads": ("static", "all"),
    "all its loads, barriers": ("barriers", "all"),
}
"""When a warp leaves the active set: as in section 3.2, and as in orf-lrf section 4.1; neither mentions barriers."""
LRU = Replay.of("rfc", entries=CHOSEN_ENTRIES, replacement="lru")
READ_ALLOCATE = Replay.of("rfc", entries=LARGE, allocate_sources=True)
WORKLOADS = workloads.names()
NATIVE = CompileChoice(address_bits=32, latencies="gebhart")
CODES: Mapping[str, Code] = {
    "native": Code(
        "machine code that is scheduled for the latencies of Table 4, addresses of 32 bits",
        NATIVE,
        "the traces are in the native instruction set (section 4.1), and nearly all of them were scheduled by a"
        " production compiler (section 5.1), which hoists loads (section 2.2). Table 4 has the only latencies that are"
        " printed. The width of addresses is not printed; 32 bits are assumed",
    ),
    "source-order": Code(
        "the same in the order of the PTX",
        dataclasses.replace(NATIVE, schedule=False),
        "what a compiler without a scheduler would have made",
    ),
    "modern": MODERN,
}
COUNTS: Sequence[Measure[object]] = (
    USAGE,
    MRF,
    LRU,
    READ_ALLOCATE,
    *(hardware(n) for n in ENTRIES),
    *(live(n) for n in ENTRIES),
    *(flushed(n, bypass) for n in ENTRIES for bypass in (False, True)),
    *map(waiting, WAITS),
)
"""Measures without cycles."""
CYCLES: Sequence[Measure[float]] = (
    *(Ipc(active, inner) for active in ACTIVE_WARPS for inner in ("greedy", "lrr")),
    *(Ipc(active, alu_cycles=4) for active in (4, 6, 8)),
    Ipc(perfect_cache=True),
    TAGGED,
)
MEASURES: Sequence[Measure[object]] = (*COUNTS, *CYCLES)


def names(study: Study) -> list[str]:
    """The workloads of the study that all replays have measured."""
    return study.in_all(COUNTS)


def class_of(workload: str) -> str:
    """``shader`` or ``compute``."""
    return "shader" if workloads.find(workload).suite == "shaders" else "compute"


def category_of(workload: str) -> str:
    """The suite; the paper's figures group traces by category."""
    return workloads.find(workload).suite


def figure_2(study: Study) -> pd.DataFrame:
    """Shares of values: how often they are read, and the lifetime of those read once; by workload."""
    rows = [
        {
            "workload": name,
            "class": class_of(name),
            "category": category_of(name),
            **{f"read {n}": share for n, share in found["values_by_reads"].items()},
            **{f"lifetime {n}": share for n, share in found["once_read_by_lifetime"].items()},
        }
        for name in names(study)
        for found in [study[USAGE][name].as_dict()]
    ]
    return pd.DataFrame(rows)


def figure_6(study: Study) -> pd.DataFrame:
    """Fractions of MRF reads and writes avoided, by entries: hardware alone, and with static liveness."""
    return _avoided(study, {"hardware": hardware, "liveness": live})


def figure_7_8(study: Study) -> pd.DataFrame:
    """Fractions avoided with six entries and static liveness by workload, in the order of reads avoided."""
    frame = _avoided(study, {"liveness": live})
    return frame[frame["entries"] == CHOSEN_ENTRIES].sort_values(["class", "reads avoided"])


def figure_9_10(study: Study) -> pd.DataFrame:
    """IPC by active warps, inner policy and ALU latency; single-level is all warps active."""
    measures = _ipcs(study)
    rows = [
        {
            "workload": name,
            "class": class_of(name),
            "active warps": measure.active,
            "inner": measure.inner,
            "ALU cycles": measure.alu_cycles,
            "perfect cache": measure.perfect_cache,
            "ipc": study[measure][name],
        }
        for measure in measures
        for name in study.in_all(measures)
    ]
    return pd.DataFrame(rows)


def tag_check(study: Study) -> pd.DataFrame:
    """IPC with eight active warps, without the cache and with it: the stage that checks its tags (section 3.1)."""
    rows = [
        {"workload": name, "class": class_of(name), "tags": tags, "ipc": study[measure][name]}
        for tags, measure in (("no cache", Ipc(CHOSEN_WARPS)), ("tags checked", TAGGED))
        for name in study.in_all((Ipc(CHOSEN_WARPS), TAGGED))
    ]
    return pd.DataFrame(rows, columns=["workload", "class", "tags", "ipc"])


def flush_costs(study: Study) -> pd.DataFrame:
    """More MRF accesses because suspended warps flush, by what they wait for; means over workloads."""
    alone = accesses_left(study, live(CHOSEN_ENTRIES))
    rows = [{"waits for": rule, "cost": ratio(accesses_left(study, waiting(rule)), alone) - 1} for rule in WAITS]
    return pd.DataFrame(rows)


def figure_11(study: Study) -> pd.DataFrame:
    """Figure 6 with the two-level scheduler, which flushes the entries of a suspended warp."""
    return _avoided(study, {"two-level": flushed, "two-level, bypass": lambda entries: flushed(entries, bypass=True)})


def figure_12(study: Study) -> pd.DataFrame:
    """Access energy of the register file without wires, normalized to no cache; by active warps and entries."""
    technology = energy.load("gebhart-40nm")
    rows = [
        {
            "workload": name,
            "class": class_of(name),
            "active warps": warps,
            "entries": entries,
            "normalized energy": _normalized(counts, study[MRF][name], technology, entries, warps, (0.0, 0.0)),
            "ideal": _ideal(study[MRF][name], technology, entries, warps),
        }
        for warps, entries in product(SWEPT_WARPS, SWEPT_ENTRIES)
        for name in names(study)
        for counts in [study[flushed(entries, bypass=True)][name]]
    ]
    return pd.DataFrame(rows)


def table_5(study: Study) -> pd.DataFrame:
    """Energy of the register file normalized to no cache, by distances of MRF and RFC to the ALUs in mm."""
    technology = energy.load("gebhart-40nm")
    rows = [
        {
            "workload": name,
            "class": class_of(name),
            "distances": label,
            "MRF mm": distances[0],
            "RFC mm": distances[1],
            "normalized energy": _normalized(
                counts, study[MRF][name], technology, CHOSEN_ENTRIES, CHOSEN_WARPS, distances
            ),
        }
        for label, distances in DISTANCES_MM.items()
        for name in names(study)
        for counts in [study[flushed(CHOSEN_ENTRIES, bypass=True)][name]]
    ]
    return pd.DataFrame(rows)


def _avoided(
    study: Study, designs: Mapping[str, Callable[[int], Replay]], sizes: Sequence[int] = ENTRIES
) -> pd.DataFrame:
    rows = [
        {
            "workload": name,
            "class": class_of(name),
            "category": category_of(name),
            "design": label,
            "entries": entries,
            "reads avoided": 1 - ratio(counts.reads("MRF", moves=True), baseline.reads()),
            "writes avoided": 1 - ratio(counts.writes("MRF", moves=True), baseline.writes()),
            "accesses": counts.mrf_accesses,
            "baseline accesses": baseline.mrf_accesses,
            "writebacks": counts.moved("RFC", "MRF"),
        }
        for label, design in designs.items()
        for entries in sizes
        for name in names(study)
        for counts, baseline in [(study[design(entries)][name], study[MRF][name])]
    ]
    return pd.DataFrame(rows)


def _normalized(
    counts: Counts,
    baseline: Counts,
    technology: Technology,
    entries: int,
    warps: int,
    distances_mm: tuple[float, float],
) -> float:
    """Energy normalized to the baseline, with other distances.  The shared units are twice as far from the RFC as the
    ALUs, as in orf-lrf Table 4, but at most as far as from the MRF.
    """
    mrf_mm, rfc_mm = distances_mm
    mrf = Structure("MRF", private_mm=mrf_mm, shared_mm=mrf_mm)
    rfc = Structure("RFC", entries=entries, warps=warps, private_mm=rfc_mm, shared_mm=min(mrf_mm, 2 * rfc_mm))
    placed = {"MRF": mrf, "RFC": rfc}
    spent = energy.account(with_structures(counts.energy_list(), placed), technology).total_pj
    return ratio(spent, energy.account(with_structures(baseline.energy_list(), placed), technology).total_pj)


def _ideal(baseline: Counts, technology: Technology, entries: int, warps: int) -> float:
    """Access energy, without wires, if the RFC served every access, normalized to the MRF."""
    rfc = Structure("RFC", entries=entries, warps=warps)
    every = baseline.energy_list()
    ideal = energy.account(with_structures(every, {"MRF": rfc}), technology, wires=False).total_pj
    return ratio(ideal, energy.account(every, technology, wires=False).total_pj)


def _usage(study: Study) -> dict[str, Measured]:
    frame = figure_2(study)
    once_within_3 = frame[["lifetime 1", "lifetime 2", "lifetime 3"]].sum(axis=1)
    hpc = frame[frame["category"] == "hpc"]
    results: dict[str, Measured] = {
        "rfc-usage-read-once": _mean(frame["read 1"]),
        "rfc-usage-read-more-than-2": _mean(frame["read >2"]),
        "rfc-usage-read-once-within-3": _mean(once_within_3),
    }
    if len(hpc):
        results["rfc-usage-hpc-read-more-than-once"] = _mean(hpc["read 2"] + hpc["read >2"])
    return results


def traffic_left(study: Study, design: Replay) -> tuple[float, float]:
    """MRF reads and writes under a design divided by those without a cache, means over workloads."""

    def left(count: Callable[[Counts], float]) -> float:
        return _mean_ratio(study, lambda name: (count(study[design][name]), count(study[MRF][name])))

    return left(lambda counts: counts.reads("MRF", moves=True)), left(lambda counts: counts.writes("MRF", moves=True))


def _traffic(study: Study) -> dict[str, Measured]:
    """Results on traffic without flushes; percentages of accesses in the reading of `readings.READ_AS`.

    The paper's figures are averages over traces, so means are compared; a mean of ratios would depend on the few
    workloads of which a large cache removes nearly all traffic.
    """
    six = _avoided(study, {"hardware": hardware, "liveness": live}, (CHOSEN_ENTRIES,))
    plain, alive = six[six["design"] == "hardware"], six[six["design"] == "liveness"]
    by_category = plain.groupby("category")[["reads avoided", "writes avoided"]].mean()
    return {
        "rfc-6-mrf-reads-avoided": _weighted(study, plain["reads avoided"], plain),
        "rfc-6-mrf-writes-avoided-hw": _weighted(study, plain["writes avoided"], plain),
        "rfc-6-mrf-writes-avoided-liveness": _weighted(study, alive["writes avoided"], alive),
        "rfc-6-reads-avoided-range": _farthest(by_category["reads avoided"], 0.45, 0.75),
        "rfc-6-writes-avoided-range": _farthest(by_category["writes avoided"], 0.35, 0.75),
        **compared(traffic_changes(study)),
        "rfc-conclusion-traffic": _farthest(_elided(alive).groupby(alive["category"]).mean(), 0.4, 0.8),
    }


def traffic_changes(study: Study) -> dict[str, Change]:
    """What liveness, read allocation and LRU change, by result; means over workloads (sections 3.1, 5.1)."""
    reads_filled, writes_filled = traffic_left(study, READ_ALLOCATE)
    reads_large, writes_large = traffic_left(study, hardware(LARGE))
    plain, alive, lru = (accesses_left(study, one) for one in (hardware(CHOSEN_ENTRIES), live(CHOSEN_ENTRIES), LRU))
    return {
        "rfc-liveness-gain": Change(1 - plain, 1 - alive),
        "rfc-read-allocate-mrf-reads": Change(reads_large, reads_filled, falls=True),
        "rfc-read-allocate-mrf-writes": Change(writes_large, writes_filled),
        "rfc-lru-extra": Change(plain, lru, falls=True),
    }


def _weighted(study: Study, values: pd.Series[float], rows: pd.DataFrame) -> float:
    """The mean of values of some rows, weighted by workload."""
    weights = study.weights_of(rows["workload"])
    return _mean(values) if weights is None else float(np.average(values, weights=weights))


def _mean_ratio(study: Study, pair: Callable[[str], tuple[float, float]]) -> float:
    """The mean of a ratio over workloads, weighted by workload."""
    every = names(study)
    return mean_ratio(map(pair, every), study.weights_of(every))


def _least_of_shaders(study: Study) -> dict[str, Measured]:
    """The smallest fraction avoided in a shader; empty without shaders."""
    frame = _avoided(study, {"liveness": live}, (CHOSEN_ENTRIES,))
    shaders = frame[frame["class"] == "shader"] if len(frame) else frame
    if shaders.empty:
        return {}
    return {f"rfc-shader-min-{what}-avoided": float(shaders[f"{what} avoided"].min()) for what in ("reads", "writes")}


def _scheduling(study: Study) -> dict[str, Measured]:
    """Results with cycles: comparisons of schedulers and latencies; empty for a study without cycles."""
    if not _ipcs(study):
        return {}

    def loss(active: int, which: str | None = None) -> float:
        return 1 - _ipc(study, Ipc(active), which) / _ipc(study, Ipc(), which)

    enough = min(active for active in ACTIVE_WARPS if loss(active) <= LOSSLESS)
    return {
        "rfc-ipc-8-active": -loss(8),
        **{f"rfc-ipc-6-active-{which}": loss(6, which) for which in CLASSES if _has(study, which)},
        "rfc-active-thread-reduction": ALL_WARPS / enough,
        "rfc-active-deterioration": float(min(active for active in ACTIVE_WARPS if loss(active) <= MARKED)),
        "rfc-alu-latency-4-gain": _ipc(study, Ipc(4, alu_cycles=4)) / _ipc(study, Ipc(4)) - 1,
        **_tagged(study),
        "rfc-round-robin-vs-greedy": _ipc(study, Ipc(inner="lrr")) < _ipc(study, Ipc()),
    }


def _tagged(study: Study) -> dict[str, Measured]:
    """The effect of the stage that checks the tags on the mean IPC."""
    frame = tag_check(study)
    if frame.empty:
        return {}
    plain, tagged = (frame[frame["tags"] == tags]["ipc"].mean() for tags in ("no cache", "tags checked"))
    return {"rfc-tag-check-ipc": float(tagged / plain - 1)}


def _ipc(study: Study, measure: Ipc, which: str | None = None) -> float:
    """Mean IPC over the workloads of a class, or all."""
    timed = study.in_all(_ipcs(study))
    return fmean(study[measure][name] for name in timed if which in (None, class_of(name)))


def _ipcs(study: Study) -> list[Ipc]:
    return [measure for measure in study.found if isinstance(measure, Ipc)]


def _has(study: Study, which: str) -> bool:
    return any(class_of(name) == which for name in study.in_all(_ipcs(study)))


def accesses_left(study: Study, design: Replay) -> float:
    """MRF accesses under a design divided by those without a cache, mean over workloads."""
    return _mean_ratio(study, lambda name: (study[design][name].mrf_accesses, study[MRF][name].mrf_accesses))


def _combined(study: Study) -> dict[str, Measured]:
    """Results of section 5.3, in the reading of `readings.READ_AS`, and the bandwidth of section 5.5."""
    bypassed = flushed(CHOSEN_ENTRIES, bypass=True)
    return {**compared(combined_changes(study)), "rfc-mrf-bandwidth": accesses_left(study, bypassed)}


def combined_changes(study: Study) -> dict[str, Change]:
    """What flushes and the bypass change, by result; means over workloads (section 5.3).

    Write-backs are fractions of the baseline's writes, with equal weights of workloads, as in all averages of the
    paper; a sum would be dominated by the longest runs.
    """
    two_level, bypassed = flushed(CHOSEN_ENTRIES), flushed(CHOSEN_ENTRIES, bypass=True)

    def written_back(design: Replay) -> float:
        return _mean_ratio(study, lambda name: (study[design][name].moved("RFC", "MRF"), study[MRF][name].writes()))

    alone, left, saved = (accesses_left(study, one) for one in (live(CHOSEN_ENTRIES), two_level, bypassed))
    return {
        "rfc-flush-cost": Change(alone, left),
        "rfc-liveness-bypass-mrf": Change(left, saved, falls=True),
        "rfc-liveness-bypass-writebacks": Change(written_back(two_level), written_back(bypassed), falls=True),
    }


def readings(study: Study) -> pd.DataFrame:
    """Both readings of each printed percentage of accesses (`readings.both`)."""
    return both({**traffic_changes(study), **combined_changes(study)})


def _energy(study: Study) -> dict[str, Measured]:
    bars, technology = figure_12(study), energy.load("gebhart-40nm")
    chosen = bars[(bars["active warps"] == CHOSEN_WARPS) & (bars["entries"] == CHOSEN_ENTRIES)]
    left = bars.groupby(["active warps", "entries"])["normalized energy"].mean()
    return {
        "rfc-energy-access-range": _farthest(1 - left, 0.2, 0.4),
        "rfc-energy-access-6x8": 1 - _mean(chosen["normalized energy"]),
        "rfc-energy-ideal-6x8": 1 - _mean(chosen["ideal"]),
        **_wired(table_5(study), technology),
    }


def _wired(table: pd.DataFrame, technology: Technology) -> dict[str, Measured]:
    """The rows of Table 5, and values that the paper computes from the row with the RFC near the ALUs."""
    headline = 1 - _mean(table[table["distances"] == "mrf1-rfc02"]["normalized energy"])
    chip = technology.chip.saved(headline)
    results: dict[str, Measured] = {
        "rfc-energy-headline": headline,
        "rfc-sm-power-saving": chip.of_sm,
        "rfc-chip-power-saving": chip.of_dynamic,
        "rfc-chip-watts-saved": chip.watts,
        "rfc-watts-per-sm-saved": chip.watts_per_sm,
    }
    for (label, which), value in table.groupby(["distances", "class"])["normalized energy"].mean().items():
        results[f"rfc-table5-{label}-{which}"] = float(value)
        if label == "mrf1-rfc02":
            results[f"rfc-energy-wire-{which}"] = 1 - float(value)
    return results


def _elided(rows: pd.DataFrame) -> pd.Series[float]:
    """Net fraction of MRF accesses avoided, by workload."""
    return 1 - rows["accesses"] / rows["baseline accesses"]


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean())


def _farthest(values: pd.Series[float], low: float, high: float) -> float:
    """Among values that a printed range spans, the one farthest from its middle."""
    return float(max(values, key=lambda value: abs(value - (low + high) / 2)))


PARTS: Mapping[str, Part] = {
    "usage": Part((USAGE,), _usage),
    "traffic": Part(
        (MRF, hardware(CHOSEN_ENTRIES), live(CHOSEN_ENTRIES), hardware(LARGE), LRU, READ_ALLOCATE), _traffic
    ),
    "shaders": Part(
        (MRF, live(CHOSEN_ENTRIES)), _least_of_shaders, [name for name in WORKLOADS if class_of(name) == "shader"]
    ),
    "scheduling": Part(CYCLES, _scheduling),
    "combined": Part(
        (MRF, live(CHOSEN_ENTRIES), flushed(CHOSEN_ENTRIES), flushed(CHOSEN_ENTRIES, bypass=True)), _combined
    ),
    "energy": Part((MRF, *(flushed(entries, bypass=True) for entries in SWEPT_ENTRIES)), _energy),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
