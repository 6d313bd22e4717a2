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
        "instructions in the order of the source", parts=("full", "half"), machine={"code": {"printed": "in-order"}}
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
    "regmutex-cycles-reduction-bfs": _DEMAND,
    "regmutex-compare-owf-reduction": _DEMAND,
    "regmutex-compare-rfv-reduction": _DEMAND,
    "regmutex-paired-reduction": _DEMAND,
    "regmutex-paired-occupancy-improved": _DEMAND,
}
REMARKS: Mapping[str, str] = {}
