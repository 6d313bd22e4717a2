"""Causes, limits and remarks of `warpreg_papers.regmutex.results`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpreg.evaluation.studies.study import Study
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.limit import Limit
from warpreg_papers.regmutex.codes import AIMED, IN_ORDER, PRINTED
from warpreg_papers.regmutex.designs import REGMUTEX, ceiling, under
from warpreg_papers.regmutex.frames import mean, most_reduced, reductions
from warpreg_papers.regmutex.kernels import FULL_GROUP
from warpreg_papers.regmutex.results import LARGE_SETS

ABLATIONS: Mapping[str, Ablation] = {
    "aimed": Ablation(
        "computations move down and are repeated wherever more than the printed base set is live",
        parts=("full", "half", "compare", "compare-half", "paired", "paired-half"),
        machine={"code": {PRINTED: AIMED}},
    ),
    "in-order": Ablation(
        "instructions are in the order of the PTX",
        parts=("half", "compare-half", "paired-half"),
        machine={"code": {PRINTED: IN_ORDER}},
    ),
    "across-blocks": Ablation(
        "a pair is of any two warps of an SM, also of different thread blocks",
        parts=("paired-half",),
        parameters={"regmutex-paired": {"across": True}},
    ),
}
_LIVE = Cause(
    "compiler",
    "our compiler keeps more values live than the printed extended sets suppose, so that warps need theirs for more of"
    " their time",
    "aimed",
)
_ORDER = Cause(
    "compiler",
    "our scheduler moves loads ahead, so that a warp hides more of its own waiting and gains less from other warps; for"
    " which latencies the compiler of 2011 schedules is not printed",
    "in-order",
)
CAUSES: Mapping[str, Cause] = {
    **dict.fromkeys(
        (
            "regmutex-half-increase",
            "regmutex-compare-regmutex-half",
            "regmutex-compare-rfv-half",
            "regmutex-rfv-advantage",
            "regmutex-paired-vs-default",
            "regmutex-paired-half-vs-default",
        ),
        _LIVE,
    ),
    **dict.fromkeys(
        (
            "regmutex-half-increase-none",
            "regmutex-compare-none-half",
            "regmutex-compare-owf-half",
            "regmutex-paired-half-increase",
        ),
        _ORDER,
    ),
    "regmutex-paired-half-unchanged": Cause(
        "model",
        "a pair is of one thread block here, and the thread blocks of Gaussian have one warp; section 4.3.3 has a bit"
        " for every two warps of an SM and does not speak of thread blocks",
        "across-blocks",
    ),
}
_CEILING = (
    "a register file without limit gains less than is printed on this machine: other warps already hide most waiting,"
    " or units are busy; the limit takes, kernel by kernel, the best number of warps that was timed"
)


def _at_most(of: Callable[[Study, Mapping[str, float]], float | None]) -> Limit:
    return Limit(
        _CEILING,
        lambda study: of(study, most_reduced(study, FULL_GROUP)),
        parts=("compare", "paired"),
        measures=(ceiling(FULL_GROUP),),
    )


def _margin_of_bfs(study: Study) -> float | None:
    """By how much BFS could gain more than the kernels that gain less in print: its largest reduction by any number of
    warps, less the largest of theirs with RegMutex.
    """
    most, gained = most_reduced(study, FULL_GROUP), reductions(study, under(REGMUTEX, FULL_GROUP))
    if "bfs" not in most or not set(LARGE_SETS) <= gained.keys():
        return None
    return most["bfs"] - max(gained[name] for name in LARGE_SETS)


_MEAN = _at_most(lambda study, values: mean(study, values) if values else None)
LIMITS: Mapping[str, Limit] = {
    **dict.fromkeys(
        (
            "regmutex-cycles-reduction",
            "regmutex-compare-regmutex-reduction",
            "regmutex-compare-owf-reduction",
            "regmutex-compare-rfv-reduction",
            "regmutex-paired-reduction",
        ),
        _MEAN,
    ),
    "regmutex-cycles-reduction-bfs": _at_most(lambda study, values: values.get("bfs")),
    "regmutex-sad-vs-bfs": Limit(
        "BFS, which waits for memory, gains less by the best number of warps that was timed than DWT2D does with"
        " RegMutex",
        _margin_of_bfs,
        parts=("full", "compare", "paired"),
        measures=(ceiling(FULL_GROUP),),
    ),
}
_DENSITY = (
    "warps hold a section for most of their time in several kernels, and there are fewer sections than that takes"
    " (figure of the time held); a single kernel, SAD, makes much of the mean (figure of means and medians)"
)
_THROTTLE = (
    "the throttle of the compared work is not printed; this one never lets fewer warps run than the plain file; with"
    " guaranteed=1 SRAD gains more and TPACF loses more"
)
REMARKS: Mapping[str, str] = {
    "regmutex-cycles-reduction": _DENSITY,
    "regmutex-compare-regmutex-reduction": _DENSITY,
    "regmutex-compare-rfv-reduction": _THROTTLE,
    "regmutex-paired-reduction": _DENSITY,
    "regmutex-mergesort-slowdown": "other kernels are slower than without RegMutex, too",
    "regmutex-heuristic-quality": (
        "where warps hold sections for most of their time, sizes with lower occupancy and sections for all are faster"
    ),
}

SUMMARY = (
    "Reproduced were, with the registers and extended sets of Table 4.1, on how many kernels RegMutex raises occupancy"
    " on half of the file and pairs do so on the whole one, what virtualization costs on half of the file, and that SAD"
    " gains by pairs; what RegMutex costs on half of the file is as printed if the compiler keeps no more than the base"
    " set live wherever it can, and several times as much if it does not. Out of reach are all gains on the whole file:"
    " even registers without number make these kernels hardly faster on this machine, because other warps already hide"
    " what they wait for. Not reproduced were what half of the file costs the plain register file, OWF and pairs, which"
    " is less here and more if the compiler keeps the order of the PTX, and differences between designs on the whole"
    " file, of which a single kernel, SAD, makes the mean."
)
"""What was reproduced, what was not, and why."""
