"""The register cache, the register scratchpad and their hybrid (CASES 2018): its figures on the workloads of Rodinia.

Energies are those of the technology ``rc-rsp-28nm``, each with its band (`costs`); means are geometric, over the
measured Rodinia workloads.  The baseline is the main register file alone.  In the paper it uses another scheduler; that
changes no counts here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import pandas as pd

from warpreg import workloads
from warpreg.energy import Technology
from warpreg.experiments.measures.strand_length import StrandLength
from warpreg.experiments.papers.part import Part, findings_of
from warpreg.experiments.papers.rc_rsp import costs, cycles, residency
from warpreg.experiments.papers.rc_rsp.designs import (
    ABLATIONS,
    ACTIVE_WARPS,
    CAPACITIES_KB,
    CHOSEN,
    CHOSEN_KB,
    COMPARED,
    HALF_KB,
    HYBRID_OPTIONS,
    MRF,
    READ_ALLOCATING,
    SCHEDULED,
    SCRATCHPAD_KB,
    SPLITS_KB,
    TIMED,
    Design,
    hybrid,
    rc,
    rsp,
)
from warpreg.experiments.runs.scheduled import Scheduled, Variant
from warpreg.experiments.studies import published
from warpreg.experiments.studies.published import Measured
from warpreg.experiments.studies.ratios import ratio
from warpreg.experiments.studies.study import Measure, Study
from warpreg.replay import Counts

COMPARISON: Mapping[str, Design] = {"rc": rc(CHOSEN_KB), "rsp": rsp(CHOSEN_KB), "hybrid": CHOSEN}
ORGANISATIONS = ("64 KB in 4 banks, 0.54 ns", "at the printed 0.82 ns", "256 KB in 16 banks, 1.07 ns")
"""Of the main register file, by CACTI; the first and the last are the band."""
BALANCED = 0.1
DIE_MM2, SMS, SCHEDULERS = 398.0, 16, 4
"""Die area of a GTX 980, as NVIDIA states it, and its SMs and schedulers."""
RODINIA = "rodinia"
WORKLOADS = tuple(name for name in workloads.names() if workloads.find(name).suite == RODINIA)
STRANDS = StrandLength()
COUNTED: Sequence[Measure[object]] = (MRF, SCHEDULED, STRANDS, *(rsp(kb) for kb in CAPACITIES_KB), *ABLATIONS.values())
CYCLES: Sequence[Measure[object]] = tuple(cycles.measures(tuple(TIMED.values())))
MEASURES: Sequence[Measure[object]] = (*COUNTED, *CYCLES, *residency.MEASURES)


def names(study: Study, measures: Sequence[Measure[object]] = (*COUNTED, COMPARED)) -> list[str]:
    """The Rodinia workloads of the study that all of these measures, as far as present, have measured; other workloads
    if there are none.
    """
    measured = study.in_all(measures)
    return [name for name in measured if name in WORKLOADS] or measured


def counts(study: Study, design: Design, name: str) -> Counts:
    """Counts of a design on a workload."""
    return scheduled(study)[name][design] if isinstance(design, Variant) else study[design][name]


def scheduled(study: Study) -> Mapping[str, Mapping[Variant, Counts]]:
    """By workload, the counts of designs along a schedule: all of them, or those that the figures compare."""
    return study[_along(study)]


def _along(study: Study) -> Scheduled:
    return SCHEDULED if SCHEDULED in study.found else COMPARED


def figure_3(study: Study) -> pd.DataFrame:
    """By workload: instructions that a warp executes in a strand, and accesses that a scratchpad of 12 KB elides."""
    rows = []
    for name in names(study):
        reads, writes = elided(study, rsp(CHOSEN_KB), name)
        instructions = study[STRANDS][name]
        rows.append({"workload": name, "instructions": instructions, "reads elided": reads, "writes elided": writes})
    return pd.DataFrame(rows)


def figure_4(study: Study) -> pd.DataFrame:
    """Energy of the cache alone by workload, divided among warps and shared by them."""
    rows = [
        {"workload": name, "cache": label, "normalized energy": value}
        for label, private in (("private parts", True), ("shared", False))
        for name, value in energies(study, rc(CHOSEN_KB, private)).items()
    ]
    return pd.DataFrame(rows)


def figure_7(study: Study) -> pd.DataFrame:
    """Energy by capacity: cache, scratchpad, and the hybrid that halves it."""
    kinds: Mapping[str, Callable[[int], Design]] = {
        "RC": rc,
        "RSP": rsp,
        "hybrid": lambda kb: hybrid(kb / 2, kb / 2),
    }
    rows = [
        {
            "design": kind,
            "KB": kb,
            "normalized energy": mean(energies(study, design(kb)).values()),
        }
        for kind, design in kinds.items()
        for kb in CAPACITIES_KB
    ]
    return pd.DataFrame(rows)


def figure_8(study: Study) -> pd.DataFrame:
    """Energy of 12 KB by the size of the scratchpad in it."""
    rows = [
        {"RSP KB": kb, "normalized energy": mean(energies(study, hybrid(CHOSEN_KB - kb, kb)).values())}
        for kb in SPLITS_KB
    ]
    return pd.DataFrame(rows)


def figures_9_10(study: Study, priced: Technology | None = None) -> pd.DataFrame:
    """By workload: energy of each design, also with half-size power, and reads and writes avoided in the MRF."""
    spent = {label: energies(study, design, priced=priced) for label, design in COMPARISON.items()}
    half = {label: energies(study, COMPARISON[label], HALF_KB, priced) for label in ("rc", "rsp")}
    rows = []
    for name in names(study):
        row: dict[str, object] = {"workload": name}
        for label, design in COMPARISON.items():
            row[f"{label} energy"] = spent[label][name]
            row[f"{label} reads elided"], row[f"{label} writes elided"] = elided(study, design, name)
        row |= {f"{label} half-size energy": each[name] for label, each in half.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def figure_11(study: Study) -> pd.DataFrame:
    """Writes and reads that each part of the hybrid elides, divided by all (section IV-C).

    Elided writes are those that a part receives from above minus those that it passes on.  Here, the scratchpad passes
    on a value that leaves its strand when it is written, so that it is written twice.  The sum over parts is Figure 10.
    """
    rows = []
    for name in names(study):
        found, baseline = counts(study, CHOSEN, name), study[MRF][name]
        passed = found.writes() - baseline.writes()
        writes = {"RC": found.writes("RC") - found.moved("RC", "MRF"), "RSP": found.writes("RSP") - passed}
        for part, taken in writes.items():
            elided = {
                "(a) writes": ratio(taken, baseline.writes()),
                "(b) reads": ratio(found.reads(part), baseline.reads()),
            }
            rows += [{"workload": name, "part": part, "panel": what, "elided": share} for what, share in elided.items()]
    return pd.DataFrame(rows)


def figure_12(study: Study) -> pd.DataFrame:
    """Reads by cycles since the last access of the register, and by the part of the hybrid that serves them."""
    return cycles.ages(study, names(study, CYCLES), CHOSEN)


def scheduler_effect(study: Study) -> pd.DataFrame:
    """Cycles and energy normalized to the baseline, and the scheduler's share of them; by workload and design."""
    return cycles.scheduler_effect(study, names(study, CYCLES), TIMED, costs.spent)


def ablations(study: Study) -> pd.DataFrame:
    """Energy of scratchpad and hybrid with another compiler for the scratchpad, normalized to that with its own."""
    return pd.DataFrame(
        {
            "design": label,
            "ablation": ablation,
            "energy over the full compiler's": mean(energies(study, design).values())
            / mean(energies(study, whole).values()),
        }
        for label, whole, others in (("RSP", rsp(CHOSEN_KB), ABLATIONS), ("hybrid", CHOSEN, HYBRID_OPTIONS))
        for ablation, design in others.items()
    )


def read_allocation(study: Study) -> pd.DataFrame:
    """Energy of cache and hybrid by workload, if only results or sources that miss too are allocated (§III-A2)."""
    return pd.DataFrame(
        {"workload": name, "design": label, "allocated": allocated, "normalized energy": value}
        for label, usual in (("RC", rc(CHOSEN_KB)), ("hybrid", CHOSEN))
        for allocated, design in (("results", usual), ("results and sources", READ_ALLOCATING[label]))
        for name, value in energies(study, design).items()
    )


def gaps(study: Study) -> pd.DataFrame:
    """By design, the difference between measured and printed energy, and its split into accesses served and price of an
    access.

    The first part is the change of the measured energy if the printed shares were elided at the prices here
    (`costs.served`), the second is the rest.
    """
    frame, rows = figures_9_10(study), list[dict[str, object]]()
    printed = {one.id: one.value or 0.0 for one in published.results("rc-rsp")}
    for label, design in COMPARISON.items():
        measured = costs.Elided(mean(frame[f"{label} reads elided"]), mean(frame[f"{label} writes elided"]))
        asked = costs.Elided(printed[f"rc-rsp-reads-elided-{label}"], printed[f"rc-rsp-writes-elided-{label}"])
        each = [
            costs.served(design, counts(study, design, name), study[MRF][name], measured, asked)
            for name in names(study)
        ]
        gap = mean(frame[f"{label} energy"]) - printed[f"rc-rsp-register-energy-{label}"]
        accesses = -fmean(each)
        parts = {"whole difference": gap, "accesses served": accesses, "price of an access": gap - accesses}
        rows += [{"design": label, "part": part, "difference": value} for part, value in parts.items()]
    return pd.DataFrame(rows)


def resident_warps(study: Study) -> pd.DataFrame:
    """Warps of an SM by workload and size."""
    return residency.by_workload(study, names(study, residency.MEASURES))


def sweep_of_warps(study: Study) -> pd.DataFrame:
    """Energy, and reads and writes elided, by the number of warps that an SM may hold."""
    return residency.by_warps(study, names(study, residency.MEASURES), _along(study), _point)


def sweep_of_sizes(study: Study) -> pd.DataFrame:
    """Energy, and reads and writes elided, by the size of the input."""
    return residency.by_size(study, names(study, residency.MEASURES), _along(study), _point)


def _point(design: Design, found: Counts, baseline: Counts) -> dict[str, object]:
    reads, writes = shares(found, baseline)
    spent = costs.spent(found, design) / costs.spent(baseline)
    return {"normalized energy": spent, "reads elided": reads, "writes elided": writes}


def energies(
    study: Study, design: Design, priced_kb: float | None = None, priced: Technology | None = None
) -> dict[str, float]:
    """Register energy normalized to the baseline, by workload; ``priced_kb``: with the access energy of this storage
    size; ``priced``: in another technology.
    """
    return {
        name: costs.spent(counts(study, design, name), design, priced_kb, priced)
        / costs.spent(study[MRF][name], priced=priced)
        for name in names(study)
    }


def elided(study: Study, design: Design, name: str) -> tuple[float, float]:
    """Reads served above the MRF, and writes that never reach it, divided by all (section IV-C)."""
    return shares(counts(study, design, name), study[MRF][name])


def shares(found: Counts, baseline: Counts) -> tuple[float, float]:
    """The shares of `elided` from counts."""
    writes = found.writes("MRF", moves=True)
    return 1 - found.reads("MRF") / baseline.reads(), 1 - writes / baseline.writes()


def mean(values: Iterable[float]) -> float:
    """Geometric mean; values below 1e-6 count as 1e-6."""
    logs = [math.log(max(value, 1e-6)) for value in values]
    return math.exp(sum(logs) / len(logs))


def _ages(study: Study) -> dict[str, Measured]:
    if not names(study, CYCLES):
        return {}
    return {"rc-rsp-rsp-captures-within": cycles.captured_within(figure_12(study))}


def bands(study: Study) -> dict[str, tuple[float, float]]:
    """The values of results that contain energies at both ends of their band, by the ids of the results."""
    low, high = (_designs(study, end) for end in costs.ends())
    return {
        result: (min(value, high[result]), max(value, high[result]))
        for result, value in low.items()
        if not isinstance(value, bool) and value != high[result]
    }


def band(study: Study) -> pd.DataFrame:
    """Energy of each design with the main register file in its three organisations."""
    technologies = zip(ORGANISATIONS, (costs.ends()[0], costs.technology(), costs.ends()[1]), strict=True)
    return pd.DataFrame(
        {
            "design": label,
            "main register file": organisation,
            "normalized energy": mean(energies(study, design, priced=priced).values()),
        }
        for organisation, priced in technologies
        for label, design in COMPARISON.items()
    )


def _designs(study: Study, priced: Technology | None = None) -> dict[str, Measured]:
    frame = figures_9_10(study, priced)
    share = costs.technology().chip.register_file
    found: dict[str, Measured] = {}
    for label in ("rc", "rsp", "hybrid"):
        spent = mean(frame[f"{label} energy"])
        found[f"rc-rsp-register-energy-{label}"] = spent
        found[f"rc-rsp-gpu-energy-{label}"] = 1 - share * (1 - spent)
        found[f"rc-rsp-reads-elided-{label}"] = mean(frame[f"{label} reads elided"])
        found[f"rc-rsp-writes-elided-{label}"] = mean(frame[f"{label} writes elided"])
    for label in ("rc", "rsp"):
        found[f"rc-rsp-register-energy-half-{label}"] = mean(frame[f"{label} half-size energy"])
    for organisation, result in (("parallel-evict", "evict"), ("parallel-apart", "no-liveout")):
        found[f"rc-rsp-parallel-{result}"] = mean(energies(study, hybrid(8, 4, organisation), priced=priced).values())
    found["rc-rsp-rc-hit-rate-in-hybrid"] = _hits(study, CHOSEN)
    found["rc-rsp-rc-hit-rate-alone"] = _hits(study, rc(CHOSEN_KB))
    return {**found, **synergy(frame)}


def _hits(study: Study, design: Variant) -> float:
    """Share of the reads that reach the cache which it serves."""
    each = [counts(study, design, name) for name in names(study)]
    return mean(one.reads("RC") / max(1, one.reads("RC") + one.reads("MRF")) for one in each)


def synergy(frame: pd.DataFrame) -> dict[str, Measured]:
    """Number of benchmarks on which the hybrid is better than both others, scaled to the paper's number of
    benchmarks.
    """
    is_balanced = (frame["rc half-size energy"] - frame["rsp half-size energy"]).abs() < BALANCED
    wins = {
        "energy": (frame["hybrid energy"] < frame["rc half-size energy"])
        & (frame["hybrid energy"] < frame["rsp half-size energy"]),
        **{
            what: (frame[f"hybrid {what}s elided"] > frame[f"rc {what}s elided"])
            & (frame[f"hybrid {what}s elided"] > frame[f"rsp {what}s elided"])
            for what in ("write", "read")
        },
    }
    found: dict[str, Measured] = {}
    if is_balanced.any():
        for what, won in wins.items():
            found[f"rc-rsp-balanced-{what}-wins"] = 13 * float(won[is_balanced].mean())
    if not is_balanced.all():
        found["rc-rsp-unbalanced-energy-wins"] = 8 * float(wins["energy"][~is_balanced].mean())
    rows = frame.set_index("workload")
    for name, better, worse in (("streamcluster", "rc", "rsp"), ("hotspot", "rsp", "rc")):
        if name in rows.index:
            row = rows.loc[name]
            ordered = row[f"{better} energy"] < row["hybrid energy"] < row[f"{worse} energy"]
            found[f"rc-rsp-{name}"] = bool(ordered)
    return found


def _sweeps(study: Study) -> dict[str, Measured]:
    capacities = figure_7(study).pivot_table(index="KB", columns="design", values="normalized energy")
    splits = figure_8(study).set_index("RSP KB")["normalized energy"]
    shared, private = (mean(energies(study, rc(CHOSEN_KB, private)).values()) for private in (False, True))
    return {
        "rc-rsp-hybrid-all-capacities": bool((capacities["hybrid"] < capacities[["RC", "RSP"]].min(axis=1)).all()),
        "rc-rsp-rsp-size-optimum": float(capacities["RSP"].idxmin()),
        "rc-rsp-best-split": bool(splits[SCRATCHPAD_KB] < splits.drop(SCRATCHPAD_KB).min()),
        "rc-rsp-dynamic-sharing": shared < private,
    }


def areas() -> dict[str, Measured]:
    """Area of the stores divided by that of the die, by the array model, without control and wiring."""
    technology = costs.technology()

    def share(level: str, entries: int) -> float:
        spec = technology.levels[level].spec(entries * ACTIVE_WARPS)
        return technology.arrays.cost(spec).area_um2 * SCHEDULERS * SMS / 1e6 / DIE_MM2

    return {
        "rc-rsp-area-rc": share("RC", 6),
        "rc-rsp-area-rsp": share("RSP", 6),
        "rc-rsp-area-hybrid": share("RC", 4) + share("RSP", 2),
    }


PARTS: Mapping[str, Part] = {
    "designs": Part((MRF, COMPARED, rsp(CHOSEN_KB)), _designs),
    "sweeps": Part((MRF, SCHEDULED, *(rsp(kb) for kb in CAPACITIES_KB)), _sweeps),
    "ages": Part(CYCLES, _ages),
    "areas": Part((), lambda study: areas()),
}


def findings(study: Study) -> dict[str, Measured]:
    """Measured values by the ids of the printed results."""
    return findings_of(PARTS.values(), study)


UNMEASURABLE: dict[str, str] = {}
