"""Figures of the register cache, the scratchpad and their hybrid (CASES 2018)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from warpreg.evaluation.runs.reuse_ages import CLASS_CYCLES
from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import (
    HIGH,
    LOW,
    WORKLOAD,
    Axis,
    Figure,
    Mark,
    columns_as_rows,
    marks_of,
    of_results,
)
from warpreg_papers.rc_rsp import frames, results
from warpreg_papers.rc_rsp.measured import mean

ENERGY = Axis("normalized energy", "energy / energy of the MRF alone", "ratio")
ELIDED = Axis("elided", "of all accesses", "fraction")
DESIGNS = frames.LABELS
HALF = {label: f"{DESIGNS[label]}, half-size power" for label in ("rc", "rsp")}
PANELS = ("(a) writes", "(b) reads")
SWEEPS = {"normalized energy": "(a) energy", "writes elided": "(b) writes elided", "reads elided": "(c) reads elided"}
VALUE = Axis("value", "of the MRF alone", "ratio")
ORGANISATIONS = {
    "rc-rsp-register-energy-hybrid": "hierarchy",
    "rc-rsp-parallel-evict": "parallel, evicting first",
    "rc-rsp-parallel-no-liveout": "parallel, no value in both",
}
GPU = {f"rc-rsp-gpu-energy-{label}": name for label, name in DESIGNS.items()}


def strand_lengths(study: Study) -> pd.DataFrame:
    """Figure 3: reads and writes that a scratchpad of 12 KB elides, and instructions per strand."""
    frame = frames.figure_3(study)
    columns = {"writes elided": "writes", "reads elided": "reads"}
    return columns_as_rows(frame, ("workload", "instructions"), columns, "accesses", ELIDED.column)


def with_bands(labels: Mapping[str, str], what: str, value: str) -> Callable[[Study], pd.DataFrame]:
    """As `of_results`, with the bands of the energies."""

    def frame(study: Study) -> pd.DataFrame:
        measured, bands = of_results(results.findings, labels, what, value)(study), results.bands(study)
        if measured.empty:
            return measured
        ends = {label: bands[result] for result, label in labels.items() if result in bands}
        low, high = zip(*(ends[label] for label in measured[what]), strict=True)
        return measured.assign(**{LOW: low, HIGH: high})

    return frame


def elided(study: Study) -> pd.DataFrame:
    """Figure 10: writes and reads avoided in the MRF."""
    frame = frames.figures_9_10(study)
    parts = []
    for panel, what in zip(PANELS, ("writes", "reads"), strict=True):
        columns = {f"{label} {what} elided": name for label, name in DESIGNS.items()}
        parts.append(columns_as_rows(frame, ("workload",), columns, "design", ELIDED.column).assign(panel=panel))
    return pd.concat(parts)


def ages(study: Study) -> pd.DataFrame:
    """Figure 12: reads by age and part of the hybrid, without the open class of ages."""
    frame = frames.figure_12(study)
    ended = frame[frame["cycles"] < frame["cycles"].max()]
    return ended.assign(cycles=ended["cycles"] + CLASS_CYCLES)


def scheduler_cycles(study: Study) -> pd.DataFrame:
    """Cycles normalized to the MRF alone with greedy scheduling: with two-level scheduling, and the designs."""
    frame = frames.scheduler_effect(study)
    alone = frame[frame["design"] == "hybrid"].assign(what="two-level alone", ratio=frame["scheduler's cycles"])
    designs = frame.assign(what=frame["design"], ratio=frame["cycles"])
    return pd.concat([alone, designs])[["workload", "what", "ratio"]]


def swept(study: Study) -> pd.DataFrame:
    """Energy, writes and reads by the number of warps that an SM may hold."""
    return _in_panels(frames.sweep_of_warps(study), "warps")


def sizes(study: Study) -> pd.DataFrame:
    """Energy, writes and reads by the size of the input."""
    return _in_panels(frames.sweep_of_sizes(study), "size")


def _in_panels(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Geometric means over workloads, each value in a panel of its own."""
    means = frame.groupby([key, "design"], sort=False)[list(SWEEPS)].agg(mean).reset_index()
    return columns_as_rows(means, (key, "design"), SWEEPS, "panel", "value")


def _at_the_sweep() -> tuple[Mark, ...]:
    """The printed values of the cache and the hybrid, which depend on the warps."""
    kinds = {"normalized energy": "register-energy", "writes elided": "writes-elided", "reads elided": "reads-elided"}
    return tuple(
        Mark(f"rc-rsp-{kind}-{label}", series=DESIGNS[label], panel=SWEEPS[column])
        for column, kind in kinds.items()
        for label in ("rc", "hybrid")
    )


def _at_the_mean(result: str) -> tuple[Mark, ...]:
    panel = PANELS[0] if "writes" in result else PANELS[1] if "reads" in result else ""
    return tuple(Mark(f"rc-rsp-{result}-{label}", "mean", name, panel) for label, name in DESIGNS.items())


FIGURES = (
    Figure(
        "figure-3", "Figure 3", "Accesses that a scratchpad of 12 KB elides", strand_lengths, "scatter",
        Axis("instructions", "instructions that a warp runs in a strand", "instructions"), ELIDED, series="accesses",
    ),
    Figure(
        "figure-4", "Figure 4", "Energy of a cache of 12 KB, private and shared", frames.figure_4, "bars", WORKLOAD,
        ENERGY, series="cache", mean="geometric",
    ),
    Figure(
        "figure-7", "Figure 7", "Energy by capacity", frames.figure_7, "lines", Axis("KB", "KB of an SM", "KB"),
        ENERGY, series="design",
        marks=tuple(Mark(f"rc-rsp-register-energy-{label}", 12, name) for label, name in list(DESIGNS.items())[:2]),
    ),
    Figure(
        "figure-8", "Figure 8", "Energy of 12 KB by the part that is scratchpad", frames.figure_8, "bars",
        Axis("RSP KB", "scratchpad, KB of an SM", "KB"), ENERGY, marks=(Mark("rc-rsp-register-energy-hybrid", 4),),
    ),
    Figure(
        "figure-9", "Figure 9", "Register energy", frames.figure_9, "bars", WORKLOAD, ENERGY, series="design",
        mean="geometric",
        marks=(
            *_at_the_mean("register-energy"),
            Mark("rc-rsp-register-energy-half-rc", "mean", HALF["rc"]),
            Mark("rc-rsp-register-energy-half-rsp", "mean", HALF["rsp"]),
        ),
    ),
    Figure(
        "gpu-energy", "§IV-B1", "Energy of the whole GPU", with_bands(GPU, "design", "energy"),
        "bars", Axis("design", ""), Axis("energy", "energy / energy of the baseline", "ratio"), marks=marks_of(GPU),
    ),
    Figure(
        "figure-10", "Figure 10", "Accesses kept from the MRF", elided, "bars", WORKLOAD, ELIDED, series="design",
        panels="panel", mean="geometric", marks=(*_at_the_mean("writes-elided"), *_at_the_mean("reads-elided")),
    ),
    Figure(
        "figure-11", "Figure 11", "Accesses elided by the parts of the hybrid", frames.figure_11, "stacks", WORKLOAD,
        ELIDED, series="part", panels="panel",
    ),
    Figure(
        "figure-12", "Figure 12", "Reads by the age of what is read", ages, "lines",
        Axis("cycles", "cycles since the register was touched, up to", "cycles", logarithmic=True),
        Axis("reads", "of all reads", "fraction"), series="part",
        marks=(Mark("rc-rsp-rsp-captures-within", upright=True),),
    ),
    Figure(
        "scheduler", "Table I", "Cycles of two-level scheduling alone and of the designs", scheduler_cycles, "bars",
        WORKLOAD, Axis("ratio", "cycles / cycles of the MRF alone under greedy scheduling", "ratio"), series="what",
        mean="geometric",
    ),
    Figure(
        "organisations", "§IV-D", "Hierarchy and parallel organisations",
        with_bands(ORGANISATIONS, "organisation", ENERGY.column), "bars", Axis("organisation", ""),
        ENERGY, marks=marks_of(ORGANISATIONS),
    ),
    Figure(
        "ablations", "§III-A2, §III-B", "Another compiler for the scratchpad", frames.ablations, "bars",
        Axis("ablation", ""), Axis("energy over the full compiler's", "energy / energy with the paper's", "ratio"),
        series="design",
    ),
    Figure(
        "read-allocation", "§III-A2", "Results alone or sources too in the cache", frames.read_allocation, "bars",
        Axis("design", ""), ENERGY, series="allocated", mean="geometric",
    ),
    Figure(
        "band", "§IV-D", "Energy by the banks of the MRF", frames.bands, "bars",
        Axis("design", ""), ENERGY, series="main register file",
        marks=tuple(
            Mark(f"rc-rsp-register-energy-{label}", name, frames.ORGANISATIONS[1]) for label, name in DESIGNS.items()
        ),
    ),
    Figure(
        "gaps", "§IV-B", "Difference to the printed energy, and its two parts", frames.gaps, "bars",
        Axis("design", ""), Axis("difference", "measured minus published energy", "ratio"), series="part",
    ),
    Figure(
        "resident-warps", "§II-A", "Warps that an SM holds, weighted by instructions", frames.resident_warps, "bars",
        WORKLOAD, Axis("warps", "warps of an SM", "warps"), series="size", mean="arithmetic",
    ),
    Figure(
        "sweep-of-warps", "§II-C3", "Results by the warps that an SM may hold", swept, "lines",
        Axis("warps", "warps of an SM, at most", "warps"), VALUE, series="design", panels="panel",
        marks=_at_the_sweep(),
    ),
    Figure(
        "sweep-of-sizes", "§IV-A", "Results by the size of the input", sizes, "bars", Axis("size", ""), VALUE,
        series="design", panels="panel",
    ),
)  # fmt: skip
