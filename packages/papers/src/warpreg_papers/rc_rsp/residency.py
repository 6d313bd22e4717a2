"""What the results of the register cache and scratchpad paper depend on: the warps that an SM holds, and the input.

The paper names neither.  An SM of its machine holds 64 warps; the sweep limits them, and the smaller sizes of the
workloads fill it less.  The scratchpad belongs to active warps, so only cache and hybrid depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from warpreg import gpu
from warpreg.evaluation.measures.resident_warps import ResidentWarps
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.study import Measure, Study
from warpreg.replay import Counts
from warpreg_papers.rc_rsp.cycles import TWO_LEVEL
from warpreg_papers.rc_rsp.designs import CHOSEN, CHOSEN_KB, MRF, SMALLER, SWEPT, Design, rc, rsp
from warpreg_papers.rc_rsp.sizes import AtSize

RESIDENT = ResidentWarps(TWO_LEVEL)
ALONE = rsp(CHOSEN_KB)
DESIGNS: Mapping[str, Design] = {"RC": rc(CHOSEN_KB), "RSP": ALONE, "hybrid": CHOSEN}
SIZED = tuple(AtSize(measure, size) for size in SMALLER for measure in (MRF, ALONE, RESIDENT))
MEASURES: Sequence[Measure[object]] = (RESIDENT, *SWEPT.values(), *SMALLER.values(), *SIZED)
Rows = Callable[[Design, Counts, Counts], dict[str, object]]
"""Values of a design from its counts and those of the main register file alone."""


def by_workload(study: Study, names: Sequence[str]) -> pd.DataFrame:
    """Warps of an SM by workload and size, means weighted by instructions."""
    rows = [
        {"workload": name, "size": size, "warps": found[name]}
        for size, found in _by_size(study, RESIDENT).items()
        for name in names
    ]
    return pd.DataFrame(rows, columns=["workload", "size", "warps"])


def by_warps(study: Study, names: Sequence[str], compared: Scheduled, rows: Rows) -> pd.DataFrame:
    """Values by the number of warps that an SM may hold, workload and design."""
    whole = gpu.load(TWO_LEVEL).sm.warps
    swept = {warps: study[measure] for warps, measure in SWEPT.items() if measure in study.found}
    points = swept | {whole: study[compared]}
    return pd.DataFrame(
        {"warps": warps, "workload": name, "design": label}
        | rows(design, _counts(study, found[name], design, name), study[MRF][name])
        for warps, found in points.items()
        for name in names
        for label, design in DESIGNS.items()
    )


def by_size(study: Study, names: Sequence[str], compared: Scheduled, rows: Rows) -> pd.DataFrame:
    """Values by the size of the input, workload and design."""
    records = []
    for size in (*(size for size in SMALLER if _is_measured(study, SMALLER[size])), study.size):
        is_own = size == study.size
        along = study[compared if is_own else SMALLER[size]]
        alone, whole = (study[one if is_own else AtSize(one, size)] for one in (ALONE, MRF))
        for name in names:
            for label, design in DESIGNS.items():
                counted = along[name][design] if isinstance(design, Variant) else alone[name]
                records.append({"size": size, "workload": name, "design": label} | rows(design, counted, whole[name]))
    return pd.DataFrame(records)


def _counts(study: Study, along: Mapping[Variant, Counts], design: Design, name: str) -> Counts:
    return along[design] if isinstance(design, Variant) else study[design][name]


def _by_size(study: Study, measure: Measure[float]) -> dict[str, Mapping[str, float]]:
    smaller = {size: AtSize(measure, size) for size in SMALLER}
    found = {size: study[one] for size, one in smaller.items() if _is_measured(study, one)}
    return found | {study.size: study[measure]}


def _is_measured(study: Study, measure: Measure[object]) -> bool:
    """Whether the size of a measure is smaller than that of the study."""
    return measure in study.found and any(one is not None for one in study[measure].values())
