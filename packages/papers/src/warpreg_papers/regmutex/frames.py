"""Figures of the study as data frames, one row for each workload and design.

Changes of cycles are relative to the plain register file of full size; means are arithmetic, as the paper's averages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import fmean, median

import pandas as pd

from warpreg.evaluation.studies.study import Study
from warpreg_papers.regmutex.designs import (
    COMPARED,
    DESIGNS,
    LIVENESS,
    PAIRED,
    REGMUTEX,
    SERIES,
    SWEPT,
    TABLE_41,
    UNSPLIT,
    Series,
    baseline,
    ceiling,
    plain,
    samples,
    sized,
    uncontended,
    under,
)
from warpreg_papers.regmutex.kernels import FULL_GROUP, HALF_GROUP, TABLE
from warpreg_papers.regmutex.samples import InTable, Placed

NONE, NO_LIMIT = "plain", "plain, registers without limit"
REDUCTION, INCREASE = "reduction", "increase"
Values = dict[str, float]
Frame = Callable[[Study], pd.DataFrame]


def mean(study: Study, values: Mapping[str, float]) -> float:
    """Arithmetic mean over workloads."""
    return fmean(values.values(), study.weights_of(values))


def increases(study: Study, measure: InTable) -> Values:
    """By workload: cycles more than with the plain register file of full size, of these; negative if fewer."""
    base = samples(study, baseline(measure.group, Series(measure.code, measure.demand)))
    found = samples(study, measure)
    return {name: one.cycles / base[name].cycles - 1 for name, one in found.items() if name in base}


def reductions(study: Study, measure: InTable) -> Values:
    """By workload: cycles fewer than with the plain register file of full size, of these."""
    return {name: -one for name, one in increases(study, measure).items()}


def most_reduced(study: Study, group: str) -> Values:
    """By workload: the largest reduction by any number of warps that the study times, those of the plain register file
    and of one without limit among them; no design can gain more by letting other warps in.
    """
    every = [plain(group), ceiling(group), *(under(design, group) for design in DESIGNS)]
    found = [reductions(study, measure) for measure in every]
    return {name: max(one.get(name, 0.0) for one in found) for name in reductions(study, ceiling(group))}


def raised(study: Study, design: str, group: str) -> dict[str, bool]:
    """By workload: whether a design raises the theoretical occupancy of the group's register file."""
    before, after = samples(study, plain(group)), samples(study, under(design, group))
    return {name: one.occupancy > before[name].occupancy for name, one in after.items() if name in before}


def at_once(study: Study, design: str, group: str) -> Values:
    """By workload with acquires: the share of acquires that succeed at once."""
    found = samples(study, under(design, group)).items()
    return {name: share for name, one in found if (share := one.at_once) is not None}


def cycles_of(group: str, designs: Iterable[str], column: str) -> Frame:
    """The frame of changes of cycles by workload, design and code."""

    def frame(study: Study) -> pd.DataFrame:
        change = reductions if column == REDUCTION else increases
        rows: list[dict[str, object]] = []
        for series, label in SERIES.items():
            own = [one for one in designs if one != NO_LIMIT or series == TABLE_41]
            for design, measure in _measures(group, own, series).items():
                rows += [
                    {"workload": name, "design": design, column: value, "code": label}
                    for name, value in change(study, measure).items()
                ]
        return pd.DataFrame(rows, columns=["workload", "design", column, "code"])

    return frame


def occupancy_of(group: str, designs: Iterable[str]) -> Frame:
    """The frame of theoretical occupancy by workload, design and code."""

    def frame(study: Study) -> pd.DataFrame:
        rows: list[dict[str, object]] = []
        for series, label in SERIES.items():
            for design, measure in {NONE: plain(group, series), **_measures(group, designs, series)}.items():
                rows += [
                    {"workload": name, "design": design, "occupancy": one.occupancy, "code": label}
                    for name, one in samples(study, measure).items()
                ]
        return pd.DataFrame(rows, columns=["workload", "design", "occupancy", "code"])

    return frame


def averages(study: Study) -> pd.DataFrame:
    """Mean and median over workloads of what a design changes, by group; one kernel can make a mean."""
    rows: list[dict[str, object]] = []
    for group in (FULL_GROUP, HALF_GROUP):
        designs = [NONE, *COMPARED, PAIRED, NO_LIMIT] if group == HALF_GROUP else [*COMPARED, PAIRED, NO_LIMIT]
        for design, measure in _measures(group, designs, TABLE_41).items():
            if values := increases(study, measure):
                for what, value in (("mean", mean(study, values)), ("median", median(values.values()))):
                    rows.append({"design": design, INCREASE: value, "average": what, "group": group})
    return pd.DataFrame(rows, columns=["design", INCREASE, "average", "group"])


def held_shares(study: Study) -> pd.DataFrame:
    """Share of its time that a warp holds a section where each can have one, and sections that there are for a warp.

    More warps can only help where the first is less than the second.
    """
    rows: list[dict[str, object]] = []
    for group in (FULL_GROUP, HALF_GROUP):
        free = samples(study, uncontended(group))
        for name, one in samples(study, under(REGMUTEX, group)).items():
            if name not in free or not one.sections:
                continue
            resident = free[name].achieved * free[name].warps / free[name].occupancy
            values = {"time held": free[name].held / resident, "sections": one.sections / one.warps}
            rows += [{"workload": name, "share": value, "what": what} for what, value in values.items()]
    return pd.DataFrame(rows, columns=["workload", "share", "what"])


def _measures(group: str, designs: Iterable[str], series: Series) -> dict[str, InTable]:
    special = {NONE: plain(group, series), NO_LIMIT: ceiling(group)}
    return {one: special[one] if one in special else under(one, group, series) for one in designs}


def figure_41(study: Study) -> pd.DataFrame:
    """Live registers along the path of a thread, by workload and kind of liveness."""
    rows = [
        {"path": (part + 0.5) / len(shares), "live": share, "live if": kind, "workload": name}
        for name, by_kind in study.found.get(LIVENESS, {}).items()
        if by_kind
        for kind, shares in by_kind.items()
        for part, share in enumerate(shares)
    ]
    return pd.DataFrame(rows, columns=["path", "live", "live if", "workload"])


def figure_46(study: Study) -> pd.DataFrame:
    """Bank conflicts of a warp-instruction by workload, with the mapping of the machine and with that of RegMutex."""
    measures = {
        NONE: plain(FULL_GROUP),
        f"{REGMUTEX}, mapping of the machine": UNSPLIT,
        f"{REGMUTEX}, its own mapping": under(REGMUTEX, FULL_GROUP),
    }
    rows = [
        {"workload": name, "design": design, "conflicts": one.bank_conflicts / one.warp_instructions}
        for design, measure in measures.items()
        for name, one in samples(study, measure).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "design", "conflicts"])


def table_41(study: Study) -> pd.DataFrame:
    """Registers of a thread and of its base set, printed and measured; spills are in bytes of a thread."""
    rows: list[dict[str, object]] = []
    for group in (FULL_GROUP, HALF_GROUP):
        for series, label in SERIES.items():
            for name, one in samples(study, under(REGMUTEX, group, series)).items():
                entry = TABLE[name]
                for what, printed, value in (
                    ("registers", entry.registers, one.registers),
                    ("base set", entry.base, one.base),
                ):
                    rows.append({"workload": name, "registers": value, "what": what, "code": label})
                    if series == TABLE_41:
                        rows.append({"workload": name, "registers": printed, "what": f"{what}, printed", "code": label})
                if one.spilled:
                    rows.append({"workload": name, "registers": one.spilled, "what": "spilled bytes", "code": label})
    return pd.DataFrame(rows, columns=["workload", "registers", "what", "code"])


def swept(column: str) -> Frame:
    """The frame of the sweep over sizes of the extended set: reduction, occupancy, or share of acquires at once."""

    def frame(study: Study) -> pd.DataFrame:
        rows: list[dict[str, object]] = []
        for extended in SWEPT:
            found = samples(study, sized(extended))
            less = reductions(study, sized(extended))
            for name, one in found.items():
                values = {REDUCTION: less.get(name), "occupancy": one.occupancy, "at once": one.at_once}
                if (value := values[column]) is not None:
                    rows.append({"extended": extended, column: value, "workload": name})
        return pd.DataFrame(rows, columns=["extended", column, "workload"])

    return frame


def figure_413(study: Study) -> pd.DataFrame:
    """Acquires that succeed at once, with and without paired warps, each group on its register file."""
    rows = [
        {"workload": name, "design": design, "at once": value}
        for group in (FULL_GROUP, HALF_GROUP)
        for design in (REGMUTEX, PAIRED)
        for name, value in at_once(study, design, group).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "design", "at once"])


def picks(study: Study) -> dict[str, tuple[int, dict[int, float]]]:
    """By workload: the size of the extended set that the rule takes, and cycles relative to the baseline by size."""
    chosen = samples(study, under(REGMUTEX, FULL_GROUP))
    by_size = {extended: increases(study, sized(extended)) for extended in SWEPT}
    return {
        name: (one.pool, {size: values[name] for size, values in by_size.items() if name in values})
        for name, one in chosen.items()
        if one.pool
    }


def achieved(study: Study) -> pd.DataFrame:
    """Theoretical and achieved occupancy of the designs, mean over workloads by group."""
    rows = [
        {"workload": name, "design": design, "occupancy": one.achieved, "group": group}
        for group in (FULL_GROUP, HALF_GROUP)
        for design, measure in {NONE: plain(group), **_measures(group, DESIGNS, TABLE_41)}.items()
        for name, one in samples(study, measure).items()
    ]
    return pd.DataFrame(rows, columns=["workload", "design", "occupancy", "group"])


def sample_of(study: Study, measure: InTable, name: str) -> Placed | None:
    """The sample of a workload, if there is one."""
    return samples(study, measure).get(name)
