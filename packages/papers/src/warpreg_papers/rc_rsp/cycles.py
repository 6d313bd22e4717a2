"""Results of the register cache and scratchpad paper with cycles: ages of reads, and the effect of the scheduler.

The paper's baseline issues greedily among all warps, its designs use two-level scheduling, so its savings combine both
(Table I).  Here, the main register file alone is timed with each scheduler, and the designs with theirs.  All are
sampled runs (`warpreg.evaluation.runs.sampling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from warpreg.evaluation.runs import reuse_ages
from warpreg.evaluation.runs.reuse_ages import CLASS_CYCLES
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sampled
from warpreg.evaluation.studies.study import Measure, Study
from warpreg.replay import Counts

GTO, TWO_LEVEL = "gtx980", "gtx980-two-level"
PARTS = ("MRF", "RC", "RSP")


@dataclass(frozen=True, slots=True)
class ReuseAges:
    """Ages of what is read."""

    file: ClassVar[Path] = Path(reuse_ages.__file__)


def ages_of(counts: Counts) -> NDArray[np.int64]:
    """Reads by level and age class; none if they were not recorded."""
    events = [number for name, number in counts.events.items() if name.startswith("age_")]
    by_level: NDArray[np.int64] = np.array(events, np.int64).reshape(-1, reuse_ages.LEVELS, reuse_ages.CLASSES).sum(0)
    return by_level


def timed(design: Variant, *, aged: Variant) -> Sampled:
    """The measure of a design; ages of reads are recorded of the one of Figure 12 only, ``aged``."""
    return Sampled(TWO_LEVEL, design, recorder=ReuseAges() if design == aged else None)


def measures(designs: Sequence[Variant], aged: Variant) -> Iterator[Measure[object]]:
    """The main register file with both schedulers, and designs with two-level scheduling."""
    yield Sampled(GTO)
    yield Sampled(TWO_LEVEL)
    for design in designs:
        yield timed(design, aged=aged)


def ages(study: Study, names: Sequence[str], design: Variant) -> pd.DataFrame:
    """Shares of reads of the hybrid by cycles since the last access of the register and by the part that serves them,
    means over workloads (Figure 12).  The last class of ages is open.
    """
    shares = []
    for name in names:
        counted = ages_of(study[timed(design, aged=design)][name].counts)
        if counted.sum():
            shares.append(counted / counted.sum())
    means = np.mean(shares, axis=0) if shares else np.zeros((len(PARTS), 0))
    rows = [
        {"part": part, "cycles": age * CLASS_CYCLES, "reads": float(means[level, age])}
        for level, part in enumerate(PARTS)
        for age in range(means.shape[1])
    ]
    return pd.DataFrame(rows, columns=["part", "cycles", "reads"])


def captured_within(frame: pd.DataFrame) -> float:
    """The age in cycles below which the scratchpad serves more reads than the cache at every age that has reads; 0 if
    it never leads.

    Section IV-C: within 20 cycles of the last access, the scratchpad generally captures more reads than the cache.
    """
    if frame.empty:
        return 0.0
    by_part = frame.pivot_table(index="cycles", columns="part", values="reads").sort_index()
    lead = by_part["RSP"] - by_part["RC"]
    behind = lead.index[(lead < 0) | ((lead == 0) & (by_part["RSP"] > 0))]
    until = float(behind[0]) if len(behind) else float(lead.index[-1] + CLASS_CYCLES)
    return until if (lead[lead.index < until] > 0).any() else 0.0


def scheduler_effect(study: Study, names: Sequence[str], designs: Mapping[str, Variant], aged: Variant) -> pd.DataFrame:
    """Effects of scheduler and organisation on cycles, by workload and design.

    The paper compares the cycles of a design with two-level scheduling to those of the main register file with greedy
    scheduling.  All columns are ratios: ``cycles`` = ``scheduler's cycles`` x ``organisation's cycles``.
    """
    rows = []
    for name in names:
        greedy, two_level = study[Sampled(GTO)][name], study[Sampled(TWO_LEVEL)][name]
        for label, design in designs.items():
            sample = study[timed(design, aged=aged)][name]
            rows.append(
                {
                    "workload": name,
                    "design": label,
                    "cycles": sample.cycles / greedy.cycles,
                    "scheduler's cycles": two_level.cycles / greedy.cycles,
                    "organisation's cycles": sample.cycles / two_level.cycles,
                }
            )
    return pd.DataFrame(rows)
