"""Causes and ablations of `warpreg.experiments.papers.regmutex.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

ABLATIONS: Mapping[str, Ablation] = {
    "printed-demand": Ablation(
        "occupancy by the printed numbers of registers, also where the code needs fewer (Table 4.1)",
        parts=("full", "compare", "paired"),
        machine={"demand": {"code": "printed"}},
    ),
    "in-order": Ablation(
        "instructions in the order of the source",
        parts=("full", "half", "compare", "paired", "paired-half"),
        machine={"code": {"printed": "in-order"}},
    ),
}
_DEMAND = Cause(
    "compiler",
    "the code needs fewer registers than the paper's compiler took, so that they limit fewer kernels",
    "printed-demand",
)
_ORDER = Cause(
    "compiler",
    "the scheduler moves loads ahead of their uses, so that many values are live at a time; sections of the pool are"
    " held for most of the code, and warps wait for them",
    "in-order",
)
CAUSES: Mapping[str, Cause] = {
    "regmutex-cycles-reduction": _ORDER,
    "regmutex-compare-regmutex-reduction": _ORDER,
    "regmutex-half-increase": _ORDER,
    "regmutex-compare-regmutex-half": _ORDER,
    "regmutex-rfv-advantage": _ORDER,
    "regmutex-paired-vs-default": _ORDER,
    "regmutex-paired-half-vs-default": _ORDER,
    "regmutex-cycles-reduction-bfs": _DEMAND,
    "regmutex-compare-owf-reduction": _DEMAND,
    "regmutex-compare-rfv-reduction": _DEMAND,
    "regmutex-paired-reduction": _DEMAND,
    "regmutex-paired-occupancy-improved": _DEMAND,
}
REMARKS: Mapping[str, str] = {
    "regmutex-sad-vs-bfs": (
        "BFS gains nothing here, neither with the registers of its code nor with the printed ones (--ablation"
        " printed-demand)"
    ),
    "regmutex-mergesort-slowdown": (
        "the code of MergeSort needs few enough registers that a smaller base set lets more warps in; other kernels are"
        " slower than without RegMutex"
    ),
    "regmutex-heuristic-quality": (
        "the rule takes sizes with the highest occupancy, which leave few sections; sizes with lower occupancy and"
        " sections for all are faster"
    ),
    "regmutex-compare-rfv-half": ("the throttle of the compared work is not printed"),
    "regmutex-compare-owf-half": ("the threshold of the compared work is not printed"),
    "regmutex-paired-half-unchanged": "Gaussian, HeatWall and TPACF have no gain; the paper does not name its kernels",
}
