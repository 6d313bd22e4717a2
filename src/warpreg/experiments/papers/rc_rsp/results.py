"""The register cache, the register scratchpad and their hybrid (CASES 2018): its figures on the workloads of Rodinia.

Energies are those of the derived technology ``rc-rsp-28nm``; means are geometric, over the measured Rodinia workloads.
The baseline is the main register file alone.  In the paper it uses another scheduler, which does not change the counts
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from warpreg import energy, workloads
from warpreg.energy.counts import Structure
from warpreg.experiments.measures.resident_warps import ResidentWarps
from warpreg.experiments.measures.strand_length import StrandLength
from warpreg.experiments.papers.part import Part, findings_of
from warpreg.experiments.papers.rc_rsp import cycles
from warpreg.experiments.papers.rc_rsp.designs import (
    ABLATIONS,
    ACTIVE_WARPS,
    CAPACITIES_KB,
    CHOSEN,
    CHOSEN_KB,
    COMPARED,
    ENTRIES_PER_KB,
    HALF_KB,
    MRF,
    SCHEDULED,
    SCRATCHPAD_KB,
    SMALLER,
    SPLITS_KB,
    SWEPT,
    TIMED,
    Design,
    hybrid,
    rc,
    rsp,
)
from warpreg.experiments.papers.rc_rsp.sizes import SIZES, AtSize
from warpreg.experiments.runs.scheduled import Variant
from warpreg.experiments.studies.published import Measured
from warpreg.experiments.studies.ratios import ratio, with_structures
from warpreg.experiments.studies.study import Measure, Study
from warpreg.replay import Counts

TECHNOLOGY = "rc-rsp-28nm"
BALANCED = 0.1
DIE_MM2, SMS, SCHEDULERS = 398.0, 16, 4
"""Die area of a GTX 980, as NVIDIA states it, and its SMs and schedulers."""
RODINIA = "rodinia"
WORKLOADS = tuple(name for name in workloads.names() if workloads.find(name).suite == RODINIA)
STRANDS = StrandLength()
RESIDENT = ResidentWarps(cycles.TWO_LEVEL)
COUNTED: Sequence[Measure[object]] = (MRF, SCHEDULED, STRANDS, *(rsp(kb) for kb in CAPACITIES_KB), *ABLATIONS.values())
RESIDENCY: Sequence[Measure[object]] = (RESIDENT, *SWEPT.values())
SIZED: Sequence[Measure[object]] = tuple(
    AtSize(measure, size) for size in SIZES[:-1] for measure in (MRF, rsp(CHOSEN_KB), RESIDENT)
)
CYCLES: Sequence[Measure[object]] = tuple(cycles.measures(tuple(TIMED.values())))
MEASURES: Sequence[Measure[object]] = (*COUNTED, *CYCLES, *RESIDENCY, *SMALLER.values(), *SIZED)


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
    return study[SCHEDULED if SCHEDULED in study.found else COMPARED]


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


def figures_9_10(study: Study) -> pd.DataFrame:
    """By workload: energy of each design, also with half-size power, and reads and writes avoided in the MRF."""
    designs: Mapping[str, Design] = {"rc": rc(CHOSEN_KB), "rsp": rsp(CHOSEN_KB), "hybrid": CHOSEN}
    rows = []
    for name in names(study):
        row: dict[str, object] = {"workload": name}
        for label, design in designs.items():
            row[f"{label} energy"] = energies(study, design)[name]
            row[f"{label} reads elided"], row[f"{label} writes elided"] = elided(study, design, name)
        for label in ("rc", "rsp"):
            row[f"{label} half-size energy"] = energies(study, designs[label], HALF_KB)[name]
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
    return cycles.scheduler_effect(study, names(study, CYCLES), TIMED, _spent)


def ablations(study: Study) -> pd.DataFrame:
    """Energy of the scratchpad without one part of its compiler each, normalized to that with all."""
    whole = mean(energies(study, rsp(CHOSEN_KB)).values())
    rows = [
        {"ablation": label, "energy over the full compiler's": mean(energies(study, design).values()) / whole}
        for label, design in ABLATIONS.items()
    ]
    return pd.DataFrame(rows)


def energies(study: Study, design: Design, priced_kb: float | None = None) -> dict[str, float]:
    """Register energy normalized to the baseline, by workload; ``priced_kb``: with the access energy of this storage
    size.
    """
    return {
        name: _spent(counts(study, design, name), design, priced_kb) / _spent(study[MRF][name]) for name in names(study)
    }


def _spent(counted: Counts, design: Design | None = None, priced_kb: float | None = None) -> float:
    """pJ of counts, with the stores at the sizes that the design declares."""
    values = dict(design.values) if design else {}
    sizes = {
        "RC": priced_kb * ENTRIES_PER_KB if priced_kb else int(values.get("lines", 0)) / ACTIVE_WARPS,
        "RSP": priced_kb * ENTRIES_PER_KB if priced_kb else int(values.get("entries", 0)),
    }
    structures = {"MRF": Structure("MRF")} | {
        level: Structure(level, entries=int(entries), warps=ACTIVE_WARPS) for level, entries in sizes.items()
    }
    return energy.account(with_structures(counted.energy_list(), structures), energy.load(TECHNOLOGY)).total_pj


def elided(study: Study, design: Design, name: str) -> tuple[float, float]:
    """Reads served above the MRF, and writes that never reach it, divided by all (section IV-C)."""
    found, baseline = counts(study, design, name), study[MRF][name]
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


def _designs(study: Study) -> dict[str, Measured]:
    frame = figures_9_10(study)
    share = energy.load(TECHNOLOGY).chip.register_file
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
        found[f"rc-rsp-parallel-{result}"] = mean(energies(study, hybrid(8, 4, organisation)).values())
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
    technology = energy.load(TECHNOLOGY)

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
