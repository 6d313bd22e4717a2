"""Machines and designs of the RegMutex study.

All designs run the same code, that with the printed number of registers, on the whole register file (the first eight
kernels of Table 4.1) or on half of it (the others).  Figures also show the code as it is compiled today.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.experiments.papers.regmutex.codes import COMPILED, PRINTED, Code
from warpreg.experiments.papers.regmutex.kernels import FULL_GROUP, HALF_GROUP, TABLE
from warpreg.experiments.papers.regmutex.live_registers import LiveRegisters
from warpreg.experiments.papers.regmutex.samples import Sample, Sampled
from warpreg.experiments.runs.scheduled import Variant
from warpreg.experiments.studies.study import Measure, Study

WORKLOADS = tuple(TABLE)
FULL, HALF = "regmutex-gtx480", "regmutex-gtx480-half"
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
CODES: Mapping[Code, str] = {PRINTED: "(a) printed registers", COMPILED: "(b) as compiled"}


def baseline(group: str, code: Code = PRINTED) -> Sampled:
    """The plain register file, whole, which both groups are compared with."""
    return Sampled(FULL, None, group, code)


def plain(group: str, code: Code = PRINTED) -> Sampled:
    """The plain register file of a group: whole, or half of it."""
    return Sampled(MACHINES[group], None, group, code)


def under(design: str, group: str, code: Code = PRINTED) -> Sampled:
    """A design on the register file of a group."""
    return Sampled(MACHINES[group], DESIGNS[design], group, code)


def sized(extended: int) -> Sampled:
    """RegMutex with a given size of the extended set, on the whole register file."""
    return Sampled(FULL, Variant.of("regmutex", extended=extended))


def measures(group: str, designs: Sequence[str], code: Code = PRINTED) -> Sequence[Sampled]:
    """The measures of some designs on a group, with what they are compared with."""
    compared = dict.fromkeys((baseline(group, code), plain(group, code)))
    return *compared, *(under(design, group, code) for design in designs)


LIVENESS = LiveRegisters()
UNSPLIT = Sampled(FULL, Variant.of("regmutex", split_mapping=False))
"""RegMutex whose registers are in the banks that the machine gives them."""
SWEEP: Sequence[Sampled] = (*measures(FULL_GROUP, [REGMUTEX]), *(sized(extended) for extended in SWEPT))
AS_COMPILED: Sequence[Sampled] = tuple(one for group in MACHINES for one in measures(group, [REGMUTEX], COMPILED))
"""Code as it is compiled today is shown beside the printed one for RegMutex."""
MEASURES: Sequence[Measure[object]] = tuple(
    dict.fromkeys(
        [
            *AS_COMPILED,
            *(one for group in MACHINES for one in measures(group, list(DESIGNS))),
            *SWEEP,
            UNSPLIT,
            LIVENESS,
        ]
    )
)


def samples(study: Study, measure: Sampled) -> dict[str, Sample]:
    """By workload of the measure's group: the sample, without workloads that lack one."""
    return {name: one for name, one in study.found.get(measure, {}).items() if one is not None}
