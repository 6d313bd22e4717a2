"""Figures and tables of the RegMutex study (thesis of 2021, chapter 4)."""

from __future__ import annotations

from warpreg.report.figure import WORKLOAD, Axis, Figure, Mark
from warpreg_papers.regmutex import frames
from warpreg_papers.regmutex.designs import COMPARED, OWF, PAIRED, REGMUTEX, RFV, SERIES
from warpreg_papers.regmutex.frames import INCREASE, NO_LIMIT, NONE, REDUCTION
from warpreg_papers.regmutex.kernels import FULL_GROUP, HALF_GROUP

LESS = Axis(REDUCTION, "cycles fewer than the full plain file's", "fraction")
MORE = Axis(INCREASE, "cycles more than the full plain file's", "fraction")
OCCUPANCY = Axis("occupancy", "theoretical occupancy", "fraction")
AT_ONCE = Axis("at once", "acquires that succeed at once", "fraction")
SIZE = Axis("extended", "registers of the extended set", "registers")
PRINTED_CODE = next(iter(SERIES.values()))


def _mark(result: str, design: str) -> Mark:
    """A mean over workloads."""
    return Mark(result, "mean", design, PRINTED_CODE)


FIGURES = (
    Figure(
        "figure-4-1", "Figure 4.1", "Live registers of a thread", frames.figure_41, "lines",
        Axis("path", "path", "fraction"),
        Axis("live", "of its registers", "fraction"), series="live if", panels="workload",
    ),
    Figure(
        "table-4-1", "Table 4.1", "Registers of a thread and of its base set", frames.table_41, "bars", WORKLOAD,
        Axis("registers", "registers of a thread, or spilled bytes", "registers"), series="what", panels="code",
    ),
    Figure(
        "figure-4-6", "Figure 4.6", "Bank conflicts by mapping", frames.figure_46, "bars", WORKLOAD,
        Axis("conflicts", "conflicts of a warp-instruction", "conflicts"), series="design",
    ),
    Figure(
        "figure-4-7", "Figure 4.7", "Cycles with RegMutex", frames.cycles_of(FULL_GROUP, [REGMUTEX], REDUCTION), "bars",
        WORKLOAD, LESS, series="design", panels="code", marks=(_mark("regmutex-cycles-reduction", REGMUTEX),),
    ),
    Figure(
        "figure-4-7-occupancy", "Figure 4.7", "Occupancy with RegMutex",
        frames.occupancy_of(FULL_GROUP, [REGMUTEX]), "bars", WORKLOAD, OCCUPANCY, series="design", panels="code",
    ),
    Figure(
        "figure-4-8", "Figure 4.8", "Cycles with half of the register file",
        frames.cycles_of(HALF_GROUP, [NONE, REGMUTEX], INCREASE), "bars", WORKLOAD, MORE, series="design",
        panels="code", marks=(
            _mark("regmutex-half-increase-none", NONE), _mark("regmutex-half-increase", REGMUTEX),
        ),
    ),
    Figure(
        "figure-4-8-occupancy", "Figure 4.8", "Occupancy with half of the register file",
        frames.occupancy_of(HALF_GROUP, [REGMUTEX]), "bars", WORKLOAD, OCCUPANCY, series="design", panels="code",
    ),
    Figure(
        "figure-4-9a", "Figure 4.9a", "Cycles of the compared designs",
        frames.cycles_of(FULL_GROUP, COMPARED, REDUCTION), "bars", WORKLOAD, LESS, series="design", panels="code",
        marks=(
            _mark("regmutex-compare-owf-reduction", OWF), _mark("regmutex-compare-rfv-reduction", RFV),
            _mark("regmutex-compare-regmutex-reduction", REGMUTEX),
        ),
    ),
    Figure(
        "figure-4-9b", "Figure 4.9b", "Cycles of the compared designs with half of the register file",
        frames.cycles_of(HALF_GROUP, [NONE, *COMPARED], INCREASE), "bars", WORKLOAD, MORE, series="design",
        panels="code", marks=(
            _mark("regmutex-compare-none-half", NONE), _mark("regmutex-compare-owf-half", OWF),
            _mark("regmutex-compare-rfv-half", RFV), _mark("regmutex-compare-regmutex-half", REGMUTEX),
        ),
    ),
    Figure(
        "figure-4-9-occupancy", "Figure 4.9", "Occupancy of the compared designs",
        frames.occupancy_of(FULL_GROUP, COMPARED), "bars", WORKLOAD, OCCUPANCY, series="design", panels="code",
    ),
    Figure(
        "figure-4-9-achieved", "Figure 4.9", "Achieved occupancy, on the whole file and on half of it",
        frames.achieved, "bars", WORKLOAD, Axis("occupancy", "achieved occupancy", "fraction"), series="design",
        panels="group",
    ),
    Figure(
        "averages", "Figures 4.7 to 4.12", "Mean and median over kernels", frames.averages, "bars",
        Axis("design", "design", ""), MORE, series="average", panels="group",
    ),
    Figure(
        "ceiling-full", "Figure 4.9a", "RegMutex and registers without limit",
        frames.cycles_of(FULL_GROUP, [REGMUTEX, NO_LIMIT], REDUCTION), "bars", WORKLOAD, LESS, series="design",
        panels="code",
    ),
    Figure(
        "ceiling-half", "Figure 4.9b", "RegMutex on half of the file, and registers without limit",
        frames.cycles_of(HALF_GROUP, [NONE, REGMUTEX, NO_LIMIT], INCREASE), "bars", WORKLOAD, MORE, series="design",
        panels="code",
    ),
    Figure(
        "held", "Section 4.4.1", "Time that sections are held, and sections of a warp", frames.held_shares, "bars",
        WORKLOAD, Axis("share", "share of a warp's time, or sections of a warp", "fraction"), series="what",
    ),
    Figure(
        "figure-4-10", "Figure 4.10", "Cycles by size of the extended set", frames.swept(REDUCTION), "lines", SIZE,
        LESS, series="workload",
    ),
    Figure(
        "figure-4-11a", "Figure 4.11a", "Occupancy by size of the extended set", frames.swept("occupancy"), "lines",
        SIZE, OCCUPANCY, series="workload",
    ),
    Figure(
        "figure-4-11b", "Figure 4.11b", "Acquires by size of the extended set", frames.swept("at once"), "lines",
        SIZE, AT_ONCE, series="workload",
    ),
    Figure(
        "figure-4-12a", "Figure 4.12a", "Cycles with paired warps",
        frames.cycles_of(FULL_GROUP, [PAIRED, REGMUTEX], REDUCTION), "bars", WORKLOAD, LESS, series="design",
        panels="code", marks=(_mark("regmutex-paired-reduction", PAIRED),),
    ),
    Figure(
        "figure-4-12a-occupancy", "Figure 4.12a", "Occupancy with paired warps",
        frames.occupancy_of(FULL_GROUP, [PAIRED, REGMUTEX]), "bars", WORKLOAD, OCCUPANCY, series="design",
        panels="code",
    ),
    Figure(
        "figure-4-12b", "Figure 4.12b", "Cycles with paired warps and half of the register file",
        frames.cycles_of(HALF_GROUP, [NONE, PAIRED, REGMUTEX], INCREASE), "bars", WORKLOAD, MORE, series="design",
        panels="code", marks=(_mark("regmutex-paired-half-increase", PAIRED),),
    ),
    Figure(
        "figure-4-12b-occupancy", "Figure 4.12b", "Occupancy with paired warps and half of the register file",
        frames.occupancy_of(HALF_GROUP, [PAIRED, REGMUTEX]), "bars", WORKLOAD, OCCUPANCY, series="design",
        panels="code",
    ),
    Figure(
        "figure-4-13", "Figure 4.13", "Acquires that succeed at once", frames.figure_413, "bars", WORKLOAD, AT_ONCE,
        series="design",
    ),
)  # fmt: skip
