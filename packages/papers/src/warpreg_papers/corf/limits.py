"""What coalescing could remove at most: one access for each instruction that reads two values which fit together.

A design of the paper's kind puts two registers in a physical one and reads both at once (section 2.3), so that an
instruction saves one access, and only if two of its values need no more than four bytes together (Figure 2.4).
Dynamic energy falls with the number of accesses alone (section 2.7), and what a design adds goes off.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.corf.designs import PACKING, PLAIN, timed
from warpreg_papers.corf.samples import ALL, by_workload, mean
from warpreg_papers.limit import Limit

_TEXT = (
    "too few instructions of this code, on these inputs, read two values that fit one register: the limit is that each"
    " of them saves an access, and that nothing is added"
)


def removable(study: Study) -> dict[str, float]:
    """By workload: instructions that read two values which fit together, of all accesses of the register file."""
    if not study.in_all([PLAIN, timed(PACKING)]):
        return {}
    return by_workload(
        study,
        PACKING,
        lambda sample, plain: ratio(sample.counts.events["coalesceable"], plain.counts.reads() + plain.counts.writes()),
    )


def _most(of: str = ALL) -> Limit:
    return Limit(_TEXT, lambda study: mean(study, removable(study), of))


def _left() -> Limit:
    def bound(study: Study) -> float | None:
        removed = mean(study, removable(study))
        return None if removed is None else 1 - removed

    return Limit(_TEXT, bound, "min")


LIMITS: Mapping[str, Limit] = {
    "corf-access-reduction-all": _most(),
    "corf-access-reduction-int": _most("int"),
    "corf-access-reduction-fp": _most("fp"),
    "corf-pp-access-reduction-fp": _most("fp"),
    "corf-dynamic-energy": _most(),
    "corf-pp-dynamic-energy": _most(),
    **dict.fromkeys(
        ("corf-table21-corf-reads", "corf-table21-corfpp-reads", "corf-table21-corf-dyn", "corf-table21-corfpp-dyn"),
        _left(),
    ),
}
