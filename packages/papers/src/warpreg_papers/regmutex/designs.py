"""Machines and designs of the RegMutex study.

All designs run the same code on the whole register file (the first eight kernels of Table 4.1) or on half of it (the
others).  What is compared with print has the registers and the extended sets that Table 4.1 prints for each kernel: by
these numbers the paper's simulator allocates (§4.4).  Figures show two series beside it: the registers that our code
needs, with the extended set of the rule, and the code as it is compiled today.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Measure, Study
from warpreg_papers.regmutex.codes import COMPILED, PRINTED, Code
from warpreg_papers.regmutex.kernels import FULL_GROUP, HALF_GROUP, TABLE
from warpreg_papers.regmutex.live_registers import LiveRegisters
from warpreg_papers.regmutex.samples import InTable, Placed

WORKLOADS = tuple(TABLE)
FULL, HALF = "regmutex-gtx480", "regmutex-gtx480-half"
UNLIMITED = "regmutex-gtx480-unlimited"
"""Registers limit nothing: no design that shares registers can let more warps in."""
MACHINES = {FULL_GROUP: FULL, HALF_GROUP: HALF}
REGMUTEX, PAIRED, OWF, RFV = "RegMutex", "paired warps", "OWF", "RFV"
DESIGNS: Mapping[str, Variant] = {
    OWF: Variant.of("owf"),
    RFV: Variant.of("virtualization-pool"),
    REGMUTEX: Variant.of("regmutex"),
    PAIRED: Variant.of("regmutex-paired"),
}
COMPARED = (OWF, RFV, REGMUTEX)
"""Designs of Figure 4.9."""
SWEPT = (2, 4, 6, 8, 10, 12)
"""Sizes of the extended set in Figure 4.10 (§4.4.4)."""


@dataclass(frozen=True, slots=True)
class Series:
    """``code`` and ``demand`` of measures, as in `InTable`."""

    code: Code
    demand: str


TABLE_41, OWN, TODAY = Series(PRINTED, PRINTED), Series(PRINTED, "code"), Series(COMPILED, "code")
SERIES: Mapping[Series, str] = {
    TABLE_41: "(a) registers and |Es| of Table 4.1",
    OWN: "(b) registers of the code, |Es| by the rule",
    TODAY: "(c) as compiled today",
}


def baseline(group: str, series: Series = TABLE_41) -> InTable:
    """The plain register file, whole, which both groups are compared with."""
    return InTable(FULL, None, group, series.code, series.demand)


def plain(group: str, series: Series = TABLE_41) -> InTable:
    """The plain register file of a group: whole, or half of it."""
    return InTable(MACHINES[group], None, group, series.code, series.demand)


def under(design: str, group: str, series: Series = TABLE_41) -> InTable:
    """A design on the register file of a group."""
    return InTable(MACHINES[group], DESIGNS[design], group, series.code, series.demand)


def ceiling(group: str) -> InTable:
    """The plain register file without a limit: the most that sharing registers can gain."""
    return InTable(UNLIMITED, None, group, demand=PRINTED)


def uncontended(group: str) -> InTable:
    """RegMutex with a section for each warp, which shows how long warps hold one."""
    return InTable(UNLIMITED, DESIGNS[REGMUTEX], group, demand=PRINTED)


def sized(extended: int) -> InTable:
    """RegMutex with a given size of the extended set, on the whole register file."""
    return InTable(FULL, Variant.of("regmutex", extended=extended), demand=PRINTED)


def measures(group: str, designs: Sequence[str], series: Series = TABLE_41) -> Sequence[InTable]:
    """The measures of some designs on a group, with what they are compared with."""
    compared = dict.fromkeys((baseline(group, series), plain(group, series)))
    return *compared, *(under(design, group, series) for design in designs)


LIVENESS = LiveRegisters()
UNSPLIT = InTable(FULL, Variant.of("regmutex", split_mapping=False), demand=PRINTED)
"""RegMutex whose registers are in the banks that the machine gives them."""
SWEEP: Sequence[InTable] = (*measures(FULL_GROUP, [REGMUTEX]), *(sized(extended) for extended in SWEPT))
BESIDE: Sequence[InTable] = tuple(
    one
    for group in MACHINES
    for one in (
        *measures(group, list(DESIGNS), OWN),
        *measures(group, [REGMUTEX], TODAY),
        ceiling(group),
        uncontended(group),
    )
)
"""What figures show beside the series that is compared with print."""
MEASURES: Sequence[Measure[object]] = tuple(
    dict.fromkeys(
        [
            *BESIDE,
            *(one for group in MACHINES for one in measures(group, list(DESIGNS))),
            *SWEEP,
            UNSPLIT,
            LIVENESS,
        ]
    )
)


def samples(study: Study, measure: InTable) -> dict[str, Placed]:
    """By workload of the measure's group: the sample, without workloads that lack one."""
    return {name: one for name, one in study.found.get(measure, {}).items() if one is not None}
