"""Figures of the register file cache and two-level scheduler (ISCA 2011)."""

from __future__ import annotations

import pandas as pd

from warpreg.evaluation.measures.ipc import ALL_WARPS
from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark, columns_as_rows, marks_of, of_results
from warpreg_papers.rfc import results
from warpreg_papers.rfc.readings import LABELS, READ_AS

ENTRIES = Axis("entries", "RFC entries per thread", "registers")
SHARE = Axis("share", "share of all values", "fraction")
AVOIDED = Axis("avoided", "MRF accesses avoided", "fraction")
IPC = Axis("ipc", "instructions per cycle", "instructions/cycle")
ENERGY = Axis("normalized energy", "energy / energy without a cache", "ratio")
KEYS = ("workload", "class", "category")
BYTES = 4
"""Bytes of a register in one lane."""
READS, WRITES = {"reads avoided": "reads"}, {"writes avoided": "writes"}
POLICIES = {"greedy": "greedy", "lrr": "loose round robin"}
POWER = {"rfc-sm-power-saving": "SM power", "rfc-chip-power-saving": "dynamic power of the chip"}
DISTANCES = {label: f"MRF {mrf:g}, RFC {rfc_mm:g} mm" for label, (mrf, rfc_mm) in results.DISTANCES_MM.items()}


def values_by_reads(study: Study) -> pd.DataFrame:
    """Figure 2(a): how often values are read."""
    columns = {f"read {n}": n for n in ("0", "1", "2", ">2")}
    return columns_as_rows(results.figure_2(study), KEYS, columns, "reads", SHARE.column)


def values_by_lifetime(study: Study) -> pd.DataFrame:
    """Figure 2(b): lifetime in instructions of values that are read once."""
    columns = {f"lifetime {n}": n for n in ("1", "2", "3", ">3")}
    return columns_as_rows(results.figure_2(study), KEYS, columns, "lifetime", SHARE.column)


def cache_alone(study: Study) -> pd.DataFrame:
    """Figure 6: accesses avoided by entries."""
    frame = results.figure_6(study)
    plain, live = frame[frame["design"] == "hardware"], frame[frame["design"] == "liveness"]
    keys = (*KEYS, "entries")
    return pd.concat(
        [
            columns_as_rows(plain, keys, {"reads avoided": "(a) reads"}, "panel", AVOIDED.column),
            columns_as_rows(plain, keys, {"writes avoided": "(b) writes"}, "panel", AVOIDED.column),
            columns_as_rows(live, keys, {"writes avoided": "(c) writes, static liveness"}, "panel", AVOIDED.column),
        ]
    )


def by_workload(study: Study, which: str) -> pd.DataFrame:
    """Figures 7 and 8: accesses avoided with six entries, by suite, fewest reads avoided first."""
    frame = results.figure_7_8(study)
    ordered = frame[frame["class"] == which].sort_values(["category", "reads avoided"])
    return columns_as_rows(ordered, KEYS, READS | WRITES, "accesses", AVOIDED.column)


def compute_workloads(study: Study) -> pd.DataFrame:
    """Figure 7."""
    return by_workload(study, "compute")


def shader_workloads(study: Study) -> pd.DataFrame:
    """Figure 8."""
    return by_workload(study, "shader")


def active_warps(study: Study) -> pd.DataFrame:
    """Figure 9: IPC by active warps, inner policy greedy."""
    frame = results.figure_9_10(study)
    chosen = frame[(frame["inner"] == "greedy") & (frame["ALU cycles"] == 8) & ~frame["perfect cache"]]
    return chosen[["workload", "class", "active warps", "ipc"]]


def active_warps_by_workload(study: Study) -> pd.DataFrame:
    """Figure 10: IPC by active warps and workload, ordered by IPC of the single-level scheduler."""
    frame = active_warps(study)
    kept = frame[frame["active warps"].isin([4, 6, 8, ALL_WARPS])]
    reached = kept[kept["active warps"] == ALL_WARPS].sort_values("ipc")["workload"]
    return kept.assign(workload=pd.Categorical(kept["workload"], reached)).sort_values("workload", kind="stable")


def inner_policies(study: Study) -> pd.DataFrame:
    """Section 5.2: greedy and loose round robin among active warps."""
    frame = results.figure_9_10(study)
    chosen = frame[(frame["ALU cycles"] == 8) & ~frame["perfect cache"]]
    named = chosen.assign(policy=chosen["inner"].map(POLICIES))
    return named[["workload", "class", "active warps", "policy", "ipc"]]


def alu_latency(study: Study) -> pd.DataFrame:
    """Section 5.5: ALUs of 4 and 8 cycles with few active warps."""
    frame = results.figure_9_10(study)
    chosen = frame[(frame["inner"] == "greedy") & frame["active warps"].isin([4, 6, 8]) & ~frame["perfect cache"]]
    labelled = chosen.assign(**{"ALU latency": chosen["ALU cycles"].map("{} cycles".format)})
    return labelled[["workload", "class", "active warps", "ALU latency", "ipc"]]


def perfect_cache(study: Study) -> pd.DataFrame:
    """Section 4: no cache in front of memory, and a perfect one."""
    frame = results.figure_9_10(study)
    chosen = frame[(frame["inner"] == "greedy") & (frame["ALU cycles"] == 8) & (frame["active warps"] == ALL_WARPS)]
    labelled = chosen.assign(memory=chosen["perfect cache"].map({False: "no cache", True: "perfect cache"}))
    return labelled[["workload", "class", "memory", "ipc"]].sort_values("ipc")


def tag_check(study: Study) -> pd.DataFrame:
    """Section 3.1: eight active warps without the cache, and with the stage that checks its tags."""
    return results.tag_check(study).sort_values(["tags", "ipc"])


def two_level(study: Study) -> pd.DataFrame:
    """Figure 11: accesses avoided under the two-level scheduler, by entries."""
    frame = results.figure_11(study)
    plain = frame[frame["design"] == "two-level"]
    keys = (*KEYS, "entries")
    panels = {"reads avoided": "(a) reads", "writes avoided": "(b) writes"}
    return columns_as_rows(plain, keys, panels, "panel", AVOIDED.column)


def energy(study: Study) -> pd.DataFrame:
    """Figure 12: access energy by active warps and entries; storage in bytes of a lane."""
    frame = results.figure_12(study)
    storage = (frame["active warps"] * frame["entries"] * BYTES).map("{} B".format)
    return frame.assign(entries=frame["entries"].map("{} entries".format), storage=storage)


def wires(study: Study) -> pd.DataFrame:
    """Table 5: energy by distances to the ALUs."""
    frame = results.table_5(study)
    return frame.assign(distances=frame["distances"].map(DISTANCES))


FIGURES = (
    Figure(
        "figure-2a", "Figure 2(a)", "How often a value is read", values_by_reads, "stacks",
        Axis("category", "suite"), SHARE, series="reads",
    ),
    Figure(
        "figure-2b", "Figure 2(b)", "Instructions to the only read of a value", values_by_lifetime, "stacks",
        Axis("category", "suite"), SHARE, series="lifetime",
    ),
    Figure(
        "figure-6", "Figure 6", "MRF accesses that the cache avoids", cache_alone, "lines", ENTRIES, AVOIDED,
        series="category", panels="panel",
        marks=(
            Mark("rfc-6-reads-avoided-range", 6, panel="(a) reads"),
            Mark("rfc-6-writes-avoided-range", 6, panel="(b) writes"),
            Mark("rfc-6-mrf-writes-avoided-liveness", 6, panel="(c) writes, static liveness"),
        ),
    ),
    Figure(
        "figure-7", "Figure 7", "Accesses avoided with six entries, compute", compute_workloads, "points",
        WORKLOAD, AVOIDED, series="accesses",
    ),
    Figure(
        "figure-8", "Figure 8", "Accesses avoided with six entries, shaders", shader_workloads, "points",
        WORKLOAD, AVOIDED, series="accesses",
        marks=(
            Mark("rfc-shader-min-reads-avoided", series="reads"),
            Mark("rfc-shader-min-writes-avoided", series="writes"),
        ),
    ),
    Figure(
        "figure-9", "Figure 9", "IPC by active warps", active_warps, "bars",
        Axis("active warps", "active warps of 32"), IPC, panels="class", spread=True,
    ),
    Figure(
        "figure-10", "Figure 10", "IPC by workload and active warps", active_warps_by_workload, "points",
        WORKLOAD, IPC, series="active warps", panels="class",
    ),
    Figure(
        "inner-policy", "§5.2", "Which active warp issues", inner_policies, "bars",
        Axis("active warps", "active warps of 32"), IPC, series="policy", panels="class",
    ),
    Figure(
        "alu-latency", "§5.5", "IPC by the latency of ALUs", alu_latency, "bars",
        Axis("active warps", "active warps of 32"), IPC, series="ALU latency", panels="class",
    ),
    Figure(
        "perfect-cache", "§4", "IPC without and with a perfect cache", perfect_cache, "points", WORKLOAD, IPC,
        series="memory", panels="class",
    ),
    Figure(
        "tag-check", "§3.1", "IPC without and with the check of tags", tag_check, "bars",
        Axis("class", ""), IPC, series="tags",
    ),
    Figure(
        "flush-cost", "§5.3", "Flushes by what a suspended warp waits for", results.flush_costs, "bars",
        Axis("waits for", ""), Axis("cost", "more MRF accesses", "fraction"),
        marks=(Mark("rfc-flush-cost", "what it needs"),),
    ),
    Figure(
        "figure-11", "Figure 11", "MRF accesses avoided under the two-level scheduler", two_level, "lines",
        ENTRIES, AVOIDED, series="category", panels="panel",
    ),
    Figure(
        "readings", "§3.1, §5.1, §5.3", "Changes of accesses in points and relative", results.readings, "bars",
        Axis("of", ""), Axis("change", "change", "fraction"), series="reading",
        marks=tuple(
            Mark(result, decision.label, LABELS[decision.reading]) for result, decision in READ_AS.items()
        ),
    ),
    Figure(
        "figure-12", "Figure 12", "Register file access energy, wires left out", energy, "bars",
        Axis("active warps", "active warps"), ENERGY,
        series="entries", texts="storage",
        marks=(Mark("rfc-energy-access-6x8", 8, "6 entries", left=True), Mark("rfc-energy-access-range", left=True)),
    ),
    Figure(
        "table-5", "Table 5", "Register file energy by distance to the ALUs", wires, "bars",
        Axis("distances", "way to the ALUs"), ENERGY, series="class",
        marks=tuple(
            Mark(f"rfc-table5-{label}-{which}", place, which)
            for label, place in DISTANCES.items()
            for which in results.CLASSES
        ),
    ),
    Figure(
        "power", "§5.5", "Power that the cache saves", of_results(results.findings, POWER, "of", "saved"), "bars",
        Axis("of", ""), Axis("saved", "saved", "fraction"), marks=marks_of(POWER),
    ),
)  # fmt: skip
