"""Data frames of the figures of CASES 2018, and of what the paper tried or leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean

import pandas as pd

from warpreg.energy import Technology
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg.replay import Counts
from warpreg_papers import published
from warpreg_papers.rc_rsp import costs, cycles, residency
from warpreg_papers.rc_rsp.designs import (
    ABLATIONS,
    CAPACITIES_KB,
    CHOSEN,
    CHOSEN_KB,
    HALF_KB,
    HYBRID_OPTIONS,
    MRF,
    READ_ALLOCATING,
    SPLITS_KB,
    TIMED,
    Design,
    hybrid,
    rc,
    rsp,
)
from warpreg_papers.rc_rsp.measured import (
    AGES,
    CYCLES,
    STRANDS,
    along,
    banded,
    counts,
    elided,
    energies,
    mean,
    mean_banded,
    names,
    shares,
)

COMPARISON: Mapping[str, Design] = {"rc": rc(CHOSEN_KB), "rsp": rsp(CHOSEN_KB), "hybrid": CHOSEN}
LABELS = {"rc": "RC", "rsp": "RSP", "hybrid": "hybrid"}
ORGANISATIONS = ("64 KB in 4 banks, 0.54 ns", "at the printed 0.82 ns", "256 KB in 16 banks, 1.07 ns")
"""Of the main register file, by CACTI; the first and the last are the band."""


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
        {"workload": name, "cache": label, **values}
        for label, private in (("private parts", True), ("shared", False))
        for name, values in banded(study, rc(CHOSEN_KB, private)).items()
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
        {"design": kind, "KB": kb, **mean_banded(study, design(kb))}
        for kind, design in kinds.items()
        for kb in CAPACITIES_KB
    ]
    return pd.DataFrame(rows)


def figure_8(study: Study) -> pd.DataFrame:
    """Energy of 12 KB by the size of the scratchpad in it."""
    rows = [{"RSP KB": kb, **mean_banded(study, hybrid(CHOSEN_KB - kb, kb))} for kb in SPLITS_KB]
    return pd.DataFrame(rows)


def figure_9(study: Study) -> pd.DataFrame:
    """Energy by workload and design, also with half-size power."""
    whole = {LABELS[label]: (design, None) for label, design in COMPARISON.items()}
    half = {f"{LABELS[label]}, half-size power": (COMPARISON[label], HALF_KB) for label in ("rc", "rsp")}
    return pd.DataFrame(
        {"workload": name, "design": label, **values}
        for label, (design, priced_kb) in (whole | half).items()
        for name, values in banded(study, design, priced_kb).items()
    )


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
        counted, baseline = counts(study, CHOSEN, name), study[MRF][name]
        passed = counted.writes() - baseline.writes()
        writes = {"RC": counted.writes("RC") - counted.moved("RC", "MRF"), "RSP": counted.writes("RSP") - passed}
        for part, taken in writes.items():
            elided = {
                "(a) writes": ratio(taken, baseline.writes()),
                "(b) reads": ratio(counted.reads(part), baseline.reads()),
            }
            rows += [{"workload": name, "part": part, "panel": what, "elided": share} for what, share in elided.items()]
    return pd.DataFrame(rows)


def figure_12(study: Study) -> pd.DataFrame:
    """Reads by cycles since the last access of the register, and by the part of the hybrid that serves them."""
    return cycles.ages(study, names(study, AGES), CHOSEN)


def scheduler_effect(study: Study) -> pd.DataFrame:
    """Cycles normalized to the baseline, and the scheduler's share of them; by workload and design."""
    return cycles.scheduler_effect(study, names(study, CYCLES), TIMED, CHOSEN)


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
        {"workload": name, "design": label, "allocated": allocated, **values}
        for label, usual in (("RC", rc(CHOSEN_KB)), ("hybrid", CHOSEN))
        for allocated, design in (("results", usual), ("results and sources", READ_ALLOCATING[label]))
        for name, values in banded(study, design).items()
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
        measured = costs.ElidedShares(mean(frame[f"{label} reads elided"]), mean(frame[f"{label} writes elided"]))
        asked = costs.ElidedShares(printed[f"rc-rsp-reads-elided-{label}"], printed[f"rc-rsp-writes-elided-{label}"])
        each = [
            costs.served(design, counts(study, design, name), study[MRF][name], measured, asked)
            for name in names(study)
        ]
        gap = mean(frame[f"{label} energy"]) - printed[f"rc-rsp-register-energy-{label}"]
        accesses = -fmean(each)
        parts = {"whole difference": gap, "accesses served": accesses, "price of an access": gap - accesses}
        rows += [{"design": LABELS[label], "part": part, "difference": value} for part, value in parts.items()]
    return pd.DataFrame(rows)


def resident_warps(study: Study) -> pd.DataFrame:
    """Warps of an SM by workload and size."""
    return residency.by_workload(study, names(study, residency.MEASURES))


def sweep_of_warps(study: Study) -> pd.DataFrame:
    """Energy, and reads and writes elided, by the number of warps that an SM may hold."""
    return residency.by_warps(study, names(study, residency.MEASURES), along(study), _point)


def sweep_of_sizes(study: Study) -> pd.DataFrame:
    """Energy, and reads and writes elided, by the size of the input."""
    return residency.by_size(study, names(study, residency.MEASURES), along(study), _point)


def _point(design: Design, found: Counts, baseline: Counts) -> dict[str, object]:
    reads, writes = shares(found, baseline)
    spent = costs.spent(found, design) / costs.spent(baseline)
    return {"normalized energy": spent, "reads elided": reads, "writes elided": writes}


def bands(study: Study) -> pd.DataFrame:
    """Energy of each design with the main register file in its three organisations."""
    technologies = zip(ORGANISATIONS, (costs.ends()[0], costs.technology(), costs.ends()[1]), strict=True)
    return pd.DataFrame(
        {
            "design": LABELS[label],
            "main register file": organisation,
            "normalized energy": mean(energies(study, design, priced=priced).values()),
        }
        for organisation, priced in technologies
        for label, design in COMPARISON.items()
    )
