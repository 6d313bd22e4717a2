"""The compiler-managed hierarchy of ORF and LRF (MICRO 2011): its figures on these workloads.

Averages are over the benchmarks of its Table 1 that are among the measured workloads.  Percentages of efficiency are
E_reference / E_new - 1 (its sections 6.4 and 9), those of saved energy 1 - E_new / E_reference (sections 6.4 and 7).
All designs follow one rule of waiting (section 4.1): a warp is descheduled where it needs a long-latency result, until
all of them have arrived, and it leaves the active set at barriers, of which the paper does not speak.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import pandas as pd

from warpreg import energy, workloads
from warpreg.codegen import ALLOCATED_PTX
from warpreg.energy import EnergyReport
from warpreg.energy.encoding import encoding_overhead
from warpreg.evaluation.measures.ipc import Ipc
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.studies.ratios import mean_ratio, ratio
from warpreg.evaluation.studies.study import Measure, Measured, Replay, Study, Usage
from warpreg.replay import Counts
from warpreg_papers.code import MODERN, Code
from warpreg_papers.orf_lrf.limit_studies import LIMITS, Limit
from warpreg_papers.orf_lrf.variable_orf import VariableOrf
from warpreg_papers.part import Part, findings_of

ENTRIES = (1, 2, 3, 4, 5, 6, 7, 8)
BEST_RFC, BEST_ORF, BEST_RFC_LRF, PRIOR_RFC = 3, 3, 6, 6
"""Entries of the best designs, HW two-level, SW and HW three-level (section 6.4), and of the earlier RFC."""
LRF_DISTANCES_MM = (0.05, 0.1, 0.2)
UNROLLED = {
    "Reduction": {"step by step": "reduction-loop", "in front": "reduction-unrolled"},
    "ScalarProd": {"step by step": "scalar-prod", "in front": "scalar-prod-unrolled"},
}
"""The loops that section 6.4 discusses, and the same with the remedy that it proposes."""
MRF = Replay.of("mrf")
USAGE = Usage()
VARIABLE = (VariableOrf(), VariableOrf(active_warps=6))


def hw(entries: int, waits: str = "all", **options: Value) -> Replay:
    """Register file cache, two levels."""
    values: dict[str, Value] = {"entries": entries, "static_liveness": True, "around_long_latency": True}
    return Replay.of("rfc", "barriers", waits=waits, **values, **options)


def hw_lrf(entries: int, waits: str = "all") -> Replay:
    """Register file cache with a last result file in front of it."""
    return Replay.of("rfc-lrf", "barriers", entries=entries, waits=waits)


def sw(entries: int, lrf: str = "none", **options: Value) -> Replay:
    """Placement by the compiler."""
    return Replay.of("orf-lrf", entries=entries, lrf=lrf, **options)


BEST = sw(BEST_ORF, "split")
PLAIN_ORF = sw(BEST_ORF, partial="none", operands=False)
BACKWARD = hw(BEST_RFC, flush_backward=True)
RESULT_OF_LIMIT = {
    "all-lrf": "orf-limit-all-lrf",
    "all-orf-5": "orf-limit-all-orf5",
    "8-entries-at-3": "orf-limit-8-entries-at-3-cost",
    "5-entries-at-3": "orf-limit-5-entries-at-3-cost",
    "no-flush-when-descheduled": "orf-limit-never-flush",
}

RESULT_OF_BENCHMARK = {"reduction": "orf-reduction-saving", "scalar-prod": "orf-scalarprod-saving"}


def limited(limit: Limit) -> Replay:
    """The best design with the parameters of a limit study."""
    return Replay.of("orf-lrf", **{"entries": BEST_ORF, "lrf": "split", **limit.parameters})


TABLE_1 = tuple(name for name in workloads.names() if "orf-lrf" in workloads.find(name).papers)
WORKLOADS = tuple(dict.fromkeys([*TABLE_1, *(name for versions in UNROLLED.values() for name in versions.values())]))
WAITS: Mapping[str, Mapping[str, Replay]] = {
    "HW, 3 entries": {"all its loads": hw(BEST_RFC), "what it needs": hw(BEST_RFC, "needed")},
    "HW LRF, 6 entries": {"all its loads": hw_lrf(BEST_RFC_LRF), "what it needs": hw_lrf(BEST_RFC_LRF, "needed")},
    "SW LRF split, 3 entries": {"all its loads": BEST},
}
"""By design: what a descheduled warp waits for."""
PTX = CompileChoice(level=ALLOCATED_PTX, schedule=False, address_bits=32, latencies="gebhart")
CODES: Mapping[str, Code] = {
    "ptx": Code(
        "PTX in the order in which it is written, with registers, addresses of 32 bits",
        PTX,
        "the tool reads PTX, as the front end of the CUDA compiler writes it, and annotates registers (section 5.1)."
        " The input of the placement has been scheduled and register allocated (section 4.2): its order is given. No"
        " part of the tools is said to schedule; the latencies of Table 2 are those of the simulator of performance"
        " (section 5.1), and moving instructions for the hierarchy is left to a study of limits (section 7). The width"
        " of addresses is assumed: 99.5% of the instructions have operands of 32 bits (section 3.2)",
    ),
    "ptx-scheduled": Code(
        "the same, scheduled for the latencies of Table 2",
        dataclasses.replace(PTX, schedule=True),
        "the other reading of section 4.2: a scheduler that is not named has reordered the PTX. Table 2 has the only"
        " latencies that are printed",
    ),
    "native": Code(
        "machine code that is scheduled for the same latencies, addresses of 32 bits",
        CompileChoice(address_bits=32, latencies="gebhart"),
        "what runs on the machine",
    ),
    "modern": MODERN,
}
RESULTS: Sequence[Measure[object]] = (
    MRF,
    PLAIN_ORF,
    BACKWARD,
    *VARIABLE,
    *(hw(BEST_RFC), hw(PRIOR_RFC), hw_lrf(BEST_RFC_LRF)),
    *(sw(BEST_ORF), sw(BEST_ORF, "unified"), BEST),
    *(limited(LIMITS[name]) for name in RESULT_OF_LIMIT),
)
"""Measures without cycles that results need."""
COUNTS: Sequence[Measure[object]] = (
    USAGE,
    *RESULTS,
    *(design for n in ENTRIES for design in (hw(n), hw_lrf(n), sw(n), sw(n, "unified"), sw(n, "split"))),
    *(sw(BEST_ORF, "split", lrf_mm=mm) for mm in LRF_DISTANCES_MM),
    *(limited(limit) for limit in LIMITS.values()),
    *(design for designs in WAITS.values() for design in designs.values()),
)
"""Those that figures need too."""
MEASURES: Sequence[Measure[object]] = (*COUNTS, Ipc(), Ipc(8))
SERIES: Mapping[str, Callable[[int], Replay]] = {
    "HW": hw,
    "HW LRF": hw_lrf,
    "SW": sw,
    "SW LRF": lambda entries: sw(entries, "unified"),
    "SW LRF split": lambda entries: sw(entries, "split"),
}
"""The bars of Figure 13."""


def table_1(study: Study) -> list[str]:
    """The workloads of the study that the paper's Table 1 lists; all, if it has none of them."""
    measured = study.in_all(MEASURES)
    return [name for name in measured if name in TABLE_1] or measured


def figure_2(study: Study) -> pd.DataFrame:
    """Shares of values: how often they are read, and the lifetime of those read once; by workload."""
    rows = [
        {
            "workload": name,
            "suite": workloads.find(name).suite,
            **{f"read {n}": share for n, share in found["values_by_reads"].items()},
            **{f"lifetime {n}": share for n, share in found["once_read_by_lifetime"].items()},
        }
        for name in table_1(study)
        for found in [study[USAGE][name].as_dict()]
    ]
    return pd.DataFrame(rows)


def figures_11_12(study: Study) -> pd.DataFrame:
    """Reads and writes of each level, normalized to the single-level file; Figure 11 without, Figure 12 with an LRF."""
    rows = [
        {
            "workload": name,
            "design": label,
            "entries": entries,
            "level": level,
            "reads": ratio(counts.reads(level, moves=True), baseline.reads()),
            "writes": ratio(counts.writes(level, moves=True), baseline.writes()),
        }
        for label, design in SERIES.items()
        for entries in ENTRIES
        for name in table_1(study)
        for counts, baseline in [(study[design(entries)][name], study[MRF][name])]
        for level in counts.levels
    ]
    return pd.DataFrame(rows)


def figure_13(study: Study) -> pd.DataFrame:
    """Energy normalized to the single-level file, by design and entries."""
    rows = [
        {"workload": name, "design": label, "entries": entries, "normalized energy": value}
        for label, design in SERIES.items()
        for entries in ENTRIES
        for name, value in normalized(study, design(entries)).items()
    ]
    return pd.DataFrame(rows)


def figure_14(study: Study, sizes: Sequence[int] = ENTRIES) -> pd.DataFrame:
    """Energy of the three-level SW design by level, access and wire, normalized to the baseline."""
    rows = []
    for entries in sizes:
        for name in table_1(study):
            whole = _energy(study[MRF][name]).total_pj
            for level, spent in _energy(study[sw(entries, "split")][name]).levels().items():
                shares = {"access": ratio(spent.access, whole), "wire": ratio(spent.wire, whole)}
                rows.append({"workload": name, "entries": entries, "level": level, **shares})
    return pd.DataFrame(rows)


def figure_15(study: Study) -> pd.DataFrame:
    """Access and wire energy of the best design by workload, normalized to the baseline, best first."""
    rows = []
    for name in sorted(table_1(study), key=normalized(study, BEST).__getitem__):
        spent, whole = _energy(study[BEST][name]), _energy(study[MRF][name]).total_pj
        for part, pj in (("access", spent.access_pj), ("wire", spent.wire_pj)):
            rows.append({"workload": name, "part": part, "normalized energy": ratio(pj, whole)})
    return pd.DataFrame(rows)


def lrf_distances(study: Study) -> pd.DataFrame:
    """Mean energy of the best design with the LRF at other distances to the ALUs (section 6.4)."""
    rows = [
        {"LRF mm": mm, "normalized energy": mean(study, sw(BEST_ORF, "split", lrf_mm=mm))} for mm in LRF_DISTANCES_MM
    ]
    return pd.DataFrame(rows)


def waits(study: Study) -> pd.DataFrame:
    """Energy by what a descheduled warp waits for (section 4.1, and section 3.2 of rfc)."""
    rows = [
        {"workload": name, "design": label, "waits for": rule, "normalized energy": value}
        for label, rules in WAITS.items()
        for rule, design in rules.items()
        for name, value in normalized(study, design).items()
    ]
    return pd.DataFrame(rows)


def unrolled(study: Study) -> pd.DataFrame:
    """Energy of the two benchmarks that save least: each iteration waits for its loads, and with the loads of several
    iterations at the front.
    """
    rows = [
        {"benchmark": benchmark, "loads": version, "normalized energy": _ratio(study, BEST, name)}
        for benchmark, versions in UNROLLED.items()
        for version, name in versions.items()
        if name in study[BEST]
    ]
    return pd.DataFrame(rows, columns=["benchmark", "loads", "normalized energy"])


def normalized(study: Study, design: Replay, wires: bool = True) -> dict[str, float]:
    """Energy of a design normalized to the single-level file, by workload of Table 1."""
    return {name: _ratio(study, design, name, wires) for name in table_1(study)}


def _ratio(study: Study, design: Replay, name: str, wires: bool = True) -> float:
    return ratio(_energy(study[design][name], wires).total_pj, _energy(study[MRF][name], wires).total_pj)


def mean(study: Study, design: Replay, wires: bool = True) -> float:
    """Mean of `normalized`."""
    return fmean(normalized(study, design, wires).values())


def _energy(counts: Counts, wires: bool = True) -> EnergyReport:
    return energy.account(counts.energy_list(), energy.load("gebhart-40nm"), wires=wires)


def _usage(study: Study) -> dict[str, Measured]:
    """Number of reads and lifetimes of values (section 2.1)."""
    frame = figure_2(study)
    within_3 = frame[["lifetime 1", "lifetime 2", "lifetime 3"]].sum(axis=1)
    return {
        "orf-usage-read-once": float(frame["read 1"].mean()),
        "orf-usage-read-once-within-3": float(within_3.mean()),
    }


def _slowdown(study: Study) -> dict[str, Measured]:
    if Ipc() not in study.found:
        return {}
    single, two_level = (fmean(study[Ipc(active)][name] for name in table_1(study)) for active in (32, 8))
    return {"orf-two-level-scheduler-slowdown-8": 1 - two_level / single}


def _counted(study: Study) -> dict[str, Measured]:
    return {**_savings(study), **_accesses(study), **_overheads(study), **_limits(study)}


def _savings(study: Study) -> dict[str, Measured]:
    best, orf, plain = mean(study, BEST), mean(study, sw(BEST_ORF)), mean(study, PLAIN_ORF)
    rfc, rfc_lrf = mean(study, hw(BEST_RFC)), mean(study, hw_lrf(BEST_RFC_LRF))
    prior = study[hw(PRIOR_RFC)]
    elided = [prior[name].elided(study[MRF][name]) for name in table_1(study)]
    return {
        "orf-prior-rfc-mrf-access-reduction": fmean(elided),
        "orf-prior-rfc-energy-saving": 1 - mean(study, hw(PRIOR_RFC)),
        "orf-sw-energy-saving-max": 1 - best,
        "orf-hw-rfc-energy-saving": 1 - rfc,
        "orf-sw-orf-energy-saving-3": 1 - orf,
        "orf-hw-lrf-energy-saving-6": 1 - rfc_lrf,
        "orf-opt-gain": plain / orf - 1,
        "orf-sw-orf-vs-hw-rfc": rfc / orf - 1,
        "orf-sw3-vs-hw-rfc": rfc / best - 1,
        "orf-sw3-vs-hw3": rfc_lrf / best - 1,
        "orf-split-lrf-gain": 1 - best / mean(study, sw(BEST_ORF, "unified")),
    }


def _benchmarks(study: Study) -> dict[str, Measured]:
    """The two benchmarks that save least."""
    by_workload = normalized(study, BEST)
    return {result: 1 - by_workload[name] for name, result in RESULT_OF_BENCHMARK.items() if name in by_workload}


def _accesses(study: Study) -> dict[str, Measured]:
    two, unified, three_hw = sw(BEST_ORF), sw(BEST_ORF, "unified"), hw_lrf(BEST_RFC_LRF)
    lrf_unified = _share(study, unified, _reads("LRF"), Counts.reads, MRF)
    lrf_split = _share(study, BEST, _reads("LRF"), Counts.reads, MRF)
    return {
        **_optimisations(study),
        "orf-mrf-reads-vs-rfc": 1 - _share(study, two, _reads("MRF"), _reads("MRF"), hw(BEST_RFC)),
        "orf-lrf-takes-orf-accesses": 1 - _share(study, unified, _orf, _orf, two),
        "orf-rfc-extra-reads": _share(study, hw(BEST_RFC), _written_back, Counts.reads, MRF),
        "orf-orf-write-reduction": 1 - _share(study, two, _writes("ORF"), _writes("RFC"), hw(BEST_RFC)),
        "orf-lrf-read-share": lrf_unified,
        "orf-lrf-read-share-split": lrf_split,
        "orf-split-lrf-read-increase": ratio(lrf_split, lrf_unified) - 1,
        "orf-overhead-writes-hw": _overhead_writes(study, three_hw),
        "orf-overhead-writes-sw": _overhead_writes(study, BEST),
    }


def _optimisations(study: Study) -> dict[str, Measured]:
    """Effect of partial ranges and read operands on MRF reads and ORF writes (section 6.1)."""
    two = sw(BEST_ORF)
    return {
        "orf-opt-mrf-read-reduction": 1 - _share(study, two, _reads("MRF"), _reads("MRF"), PLAIN_ORF),
        "orf-opt-orf-write-increase": _share(study, two, _writes("ORF"), _writes("ORF"), PLAIN_ORF) - 1,
    }


def _overhead_writes(study: Study, design: Replay) -> float:
    """Writes beyond those of the single-level file, divided by the latter."""
    return _share(study, design, _all_writes, _all_writes, MRF) - 1


def _share(
    study: Study, design: Replay, count: Callable[[Counts], float], whole: Callable[[Counts], float], of: Replay
) -> float:
    return mean_ratio((count(study[design][name]), whole(study[of][name])) for name in table_1(study))


def _reads(level: str) -> Callable[[Counts], float]:
    return lambda counts: counts.reads(level, moves=True)


def _writes(level: str) -> Callable[[Counts], float]:
    return lambda counts: counts.writes(level, moves=True)


def _all_writes(counts: Counts) -> float:
    return sum(counts.writes(level, moves=True) for level in counts.levels)


def _orf(counts: Counts) -> float:
    return counts.reads("ORF", moves=True) + counts.writes("ORF", moves=True)


def _written_back(counts: Counts) -> float:
    return counts.moved("RFC", "MRF")


def _overheads(study: Study) -> dict[str, Measured]:
    chip = energy.load("gebhart-40nm").chip.saved(1 - mean(study, BEST))
    levels = figure_14(study, (BEST_ORF,)).groupby("level")[["access", "wire"]].mean()
    results: dict[str, Measured] = {
        "orf-mrf-energy-share": float(levels.loc["MRF"].sum() / levels.to_numpy().sum()),
        "orf-lrf-wire-energy-share": float(levels["wire"].get("LRF", 0.0)),
        "orf-sm-dynamic-power": chip.of_sm,
        "orf-chip-dynamic-power": chip.of_dynamic,
    }
    for bits in (1, 5):
        overhead = encoding_overhead(bits)
        results[f"orf-encoding-{bits}bit-fetch-decode"] = overhead.of_fetch_decode
        results[f"orf-encoding-{bits}bit-chip"] = overhead.of_dynamic
        results[f"orf-encoding-{bits}bit-net"] = chip.of_dynamic - overhead.of_dynamic
    return results


def _limits(study: Study) -> dict[str, Measured]:
    best = mean(study, BEST)
    eight, six = (fmean(1 - study[one][name].saving for name in table_1(study)) for one in VARIABLE)
    results: dict[str, Measured] = {
        "orf-limit-variable-orf": 1 - eight,
        "orf-limit-variable-orf-fewer-warps": 1 - six / eight,
        "orf-limit-backward-branch": 1 - mean(study, hw(BEST_RFC)) / mean(study, BACKWARD),
    }
    for name, result in RESULT_OF_LIMIT.items():
        value = mean(study, limited(LIMITS[name]), LIMITS[name].wires)
        results[result] = 1 - value / (1 if name.startswith("all") else best)
    return results


PARTS: Mapping[str, Part] = {
    "usage": Part((USAGE,), _usage),
    "scheduling": Part((Ipc(), Ipc(8)), _slowdown),
    "counts": Part(RESULTS, _counted),
    "benchmarks": Part((MRF, BEST), _benchmarks, tuple(RESULT_OF_BENCHMARK)),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
