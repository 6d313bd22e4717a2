"""Causes, limits and remarks of `warpreg_papers.regmutex.results`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpreg.evaluation.studies.study import Study
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.limit import Limit
from warpreg_papers.regmutex.codes import AIMED, PRINTED
from warpreg_papers.regmutex.frames import mean, most_reduced
from warpreg_papers.regmutex.kernels import FULL_GROUP

ABLATIONS: Mapping[str, Ablation] = {
    "aimed": Ablation(
        "computations move down and are repeated wherever more than the printed base set is live",
        parts=("full", "half", "compare", "compare-half", "paired", "paired-half"),
        machine={"code": {PRINTED: AIMED}},
    ),
}
_LIVE = Cause(
    "compiler",
    "our compiler keeps more values live than the printed extended sets suppose, so that warps need theirs for more of"
    " their time",
    "aimed",
)
CAUSES: Mapping[str, Cause] = dict.fromkeys(
    (
        "regmutex-half-increase",
        "regmutex-compare-regmutex-half",
        "regmutex-compare-rfv-half",
        "regmutex-rfv-advantage",
        "regmutex-paired-vs-default",
        "regmutex-paired-half-vs-default",
    ),
    _LIVE,
)
_CEILING = (
    "a register file without limit gains less than is printed on this machine: other warps already hide most waiting,"
    " or units are busy; the limit takes, kernel by kernel, the best number of warps that was timed"
)


def _at_most(of: Callable[[Study, Mapping[str, float]], float | None]) -> Limit:
    return Limit(_CEILING, lambda study: of(study, most_reduced(study, FULL_GROUP)))


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
    "regmutex-compare-owf-half": "the threshold of the compared work is not printed",
    "regmutex-compare-rfv-reduction": _THROTTLE,
    "regmutex-paired-reduction": _DENSITY,
    "regmutex-paired-half-increase": "the paper does not name the kernels of its mean",
    "regmutex-paired-half-unchanged": "the paper does not name its kernels",
    "regmutex-sad-vs-bfs": "BFS, which waits for memory, gains hardly anything here, also without a limit of registers",
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
    " what they wait for. Not reproduced were what half of the file costs the plain register file, which is less here,"
    " and differences between designs on the whole file, of which a single kernel, SAD, makes the mean."
)
"""What was reproduced, what was not, and why."""
