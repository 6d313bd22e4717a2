"""Figures of the compiler-managed hierarchy of ORF and LRF (MICRO 2011)."""

from __future__ import annotations

import pandas as pd

from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark, columns_as_rows, marks_of, of_results
from warpreg_papers.orf_lrf import limit_studies as orf_limits
from warpreg_papers.orf_lrf import results

ENTRIES = Axis("entries", "ORF or RFC entries per thread", "registers")
SHARE = Axis("share", "share of all values", "fraction")
ACCESSES = Axis("accesses", "accesses / accesses of a single level", "ratio")
ENERGY = Axis("normalized energy", "energy / energy of a single level", "ratio")
SAVED = Axis("saved", "energy saved", "fraction")
SUITE = Axis("suite", "suite")
TWO_LEVELS = {"HW": "HW", "SW": "SW"}
THREE_LEVELS = {"HW LRF": "HW", "SW LRF": "SW", "SW LRF split": "split"}
CACHED = "ORF or RFC"
PARTS = ("MRF access", "MRF wire", "ORF access", "ORF wire", "LRF access", "LRF wire")
IDEAL = {
    "orf-sw-energy-saving-max": "best design",
    "orf-limit-all-orf5": "all in an ORF of 5 entries",
    "orf-limit-all-lrf": "all in the LRF",
}
LIMITS = {
    "orf-limit-variable-orf": "ORF size by strand",
    "orf-limit-variable-orf-fewer-warps": "6 active warps besides",
    "orf-limit-backward-branch": "past backward branches (HW)",
    "orf-limit-8-entries-at-3-cost": "8 entries at 3",
    "orf-limit-5-entries-at-3-cost": "5 entries at 3",
    "orf-limit-never-flush": "no flush when descheduled",
}
ENCODING = {
    f"orf-encoding-{bits}bit-{result}": f"{label}, {bits} bit{'s' * (bits > 1)}"
    for bits in (1, 5)
    for result, label in (
        ("fetch-decode", "more fetch, decode"), ("chip", "more of the chip"), ("net", "saved net, of the chip"),
    )
}  # fmt: skip
POWER = {"orf-sm-dynamic-power": "dynamic power of an SM", "orf-chip-dynamic-power": "dynamic power of the chip"}


def values_by_reads(study: Study) -> pd.DataFrame:
    """Figure 2(a): how often values are read."""
    columns = {f"read {n}": n for n in ("0", "1", "2", ">2")}
    return columns_as_rows(results.figure_2(study), ("workload", "suite"), columns, "reads", SHARE.column)


def values_by_lifetime(study: Study) -> pd.DataFrame:
    """Figure 2(b): lifetime in instructions of values that are read once."""
    columns = {f"lifetime {n}": n for n in ("1", "2", "3", ">3")}
    return columns_as_rows(results.figure_2(study), ("workload", "suite"), columns, "lifetime", SHARE.column)


def two_levels(study: Study) -> pd.DataFrame:
    """Figure 11: accesses by level, without an LRF."""
    frame = _by_level(study, TWO_LEVELS)
    return frame[frame["level"] != "LRF"]


def three_levels(study: Study) -> pd.DataFrame:
    """Figure 12: accesses by level, with an LRF."""
    return _by_level(study, THREE_LEVELS)


def energy_by_part(study: Study) -> pd.DataFrame:
    """Figure 14: access and wire energy of each level."""
    parts = {"access": " access", "wire": " wire"}
    frame = columns_as_rows(results.figure_14(study), ("workload", "entries", "level"), parts, "part", ENERGY.column)
    named = frame.assign(part=pd.Categorical(frame["level"] + frame["part"], PARTS))
    return named.drop(columns="level").sort_values(["entries", "part"], kind="stable")


def limits(study: Study) -> pd.DataFrame:
    """Section 7: energy of other designs relative to the best one, and of a value in LRF and ORF at once (section
    4.6).
    """
    frame = of_results(results.findings, LIMITS, "limit", SAVED.column)(study)
    both = 1 - results.mean(study, results.limited(orf_limits.limit("both-levels"))) / results.mean(study, results.BEST)
    return pd.concat([frame, pd.DataFrame({"limit": ["in LRF and ORF at once"], SAVED.column: [both]})])


def _by_level(study: Study, designs: dict[str, str]) -> pd.DataFrame:
    frame = results.figures_11_12(study)
    chosen = frame[frame["design"].isin(list(designs))]
    labelled = chosen.assign(
        design=pd.Categorical(chosen["design"].map(designs), list(designs.values())),
        level=pd.Categorical(chosen["level"].replace({"RFC": CACHED, "ORF": CACHED}), ["MRF", CACHED, "LRF"]),
    ).sort_values(["design", "level"], kind="stable")
    keys = ("workload", "design", "entries", "level")
    panels = {"reads": "(a) reads", "writes": "(b) writes"}
    return columns_as_rows(labelled, keys, panels, "panel", ACCESSES.column)


FIGURES = (
    Figure(
        "figure-2a", "Figure 2(a)", "How often a value is read", values_by_reads, "stacks", SUITE, SHARE,
        series="reads",
    ),
    Figure(
        "figure-2b", "Figure 2(b)", "Instructions to the only read of a value", values_by_lifetime, "stacks",
        SUITE, SHARE, series="lifetime",
    ),
    Figure(
        "figure-11", "Figure 11", "Accesses by level, two levels", two_levels, "stacks", ENTRIES, ACCESSES,
        series="level", groups="design", panels="panel",
    ),
    Figure(
        "figure-12", "Figure 12", "Accesses by level, three levels", three_levels, "stacks", ENTRIES, ACCESSES,
        series="level", groups="design", panels="panel",
    ),
    Figure(
        "figure-13", "Figure 13", "Register file energy by design", results.figure_13, "bars", ENTRIES, ENERGY,
        series="design",
        marks=(
            Mark("orf-hw-rfc-energy-saving", 3, "HW", left=True),
            Mark("orf-hw-lrf-energy-saving-6", 6, "HW LRF", left=True),
            Mark("orf-sw-orf-energy-saving-3", 3, "SW", left=True),
            Mark("orf-sw-energy-saving-max", 3, "SW LRF split", left=True),
        ),
    ),
    Figure(
        "figure-14", "Figure 14", "Energy of three levels by part, split LRF", energy_by_part, "stacks",
        Axis("entries", "ORF entries per thread", "registers"), ENERGY, series="part",
        marks=(Mark("orf-sw-energy-saving-max", 3, left=True),),
    ),
    Figure(
        "figure-15", "Figure 15", "Energy of the best design by workload", results.figure_15, "stacks", WORKLOAD,
        ENERGY, series="part",
        marks=(
            Mark("orf-reduction-saving", "reduction", left=True),
            Mark("orf-scalarprod-saving", "scalar-prod", left=True),
            Mark("orf-sw-energy-saving-max", "mean", left=True),
        ),
    ),
    Figure(
        "waits", "§4.1", "Energy by what a descheduled warp waits for", results.waits, "bars", Axis("design", ""),
        ENERGY, series="waits for",
    ),
    Figure(
        "unrolled", "§6.4", "Loops unrolled, loads in front", results.unrolled, "bars", Axis("benchmark", ""), ENERGY,
        series="loads",
        marks=(
            Mark("orf-reduction-saving", "Reduction", "step by step", left=True),
            Mark("orf-scalarprod-saving", "ScalarProd", "step by step", left=True),
        ),
    ),
    Figure(
        "lrf-distance", "§6.4", "Energy by the way to the LRF", results.lrf_distances, "bars",
        Axis("LRF mm", "LRF to the ALUs, mm", "mm"), ENERGY,
    ),
    Figure(
        "power", "§6.4", "Power that the best design saves", of_results(results.findings, POWER, "of", "saved"),
        "bars", Axis("of", ""), Axis("saved", "saved", "fraction"), marks=marks_of(POWER),
    ),
    Figure(
        "encoding", "§6.5", "What longer instructions cost",
        of_results(results.findings, ENCODING, "of", "share"), "bars", Axis("of", ""),
        Axis("share", "share", "fraction"), marks=marks_of(ENCODING),
    ),
    Figure(
        "ideal", "§7", "Ideal designs, wires left out", of_results(results.findings, IDEAL, "design", "saved"), "bars",
        Axis("design", ""), SAVED, marks=marks_of(IDEAL),
    ),
    Figure(
        "limits", "§7", "What other designs would save besides", limits,
        "bars", Axis("limit", ""), SAVED, marks=marks_of(LIMITS),
    ),
)  # fmt: skip
