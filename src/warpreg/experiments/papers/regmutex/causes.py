"""Remarks on results of `warpreg.experiments.papers.regmutex.results` outside their tolerance.

No cause is stated.  What was supposed did not stand its test kernel by kernel: with the order of the source, sections
are held as long as before in most kernels, and a mean moves that a single kernel makes.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

ABLATIONS: Mapping[str, Ablation] = {}
CAUSES: Mapping[str, Cause] = {}

_CEILING = (
    "a register file without limit, which no design that shares registers can pass by letting more warps in, gains"
    " less than is printed on this machine (figure of the ceiling): other warps already hide most waiting, or units"
    " are busy"
)
_DENSITY = (
    "warps hold a section for most of their time in several kernels, and there are fewer sections than that takes"
    " (figure of the time held): our allocator keeps more registers live through main loops than such a gain allows;"
    " a single kernel, SAD, makes much of the mean (figure of means and medians)"
)
_THROTTLE = (
    "the throttle of the compared work is not printed; this one never lets fewer warps run than the plain file; with"
    " guaranteed=1 SRAD gains more and TPACF loses more"
)
REMARKS: Mapping[str, str] = {
    "regmutex-cycles-reduction": f"{_CEILING}; {_DENSITY}",
    "regmutex-compare-regmutex-reduction": f"{_CEILING}; {_DENSITY}",
    "regmutex-cycles-reduction-bfs": _CEILING,
    "regmutex-half-increase": _DENSITY,
    "regmutex-compare-regmutex-half": _DENSITY,
    "regmutex-compare-owf-reduction": _CEILING,
    "regmutex-compare-owf-half": "the threshold of the compared work is not printed",
    "regmutex-compare-rfv-reduction": f"{_CEILING}; {_THROTTLE}",
    "regmutex-compare-rfv-half": _THROTTLE,
    "regmutex-rfv-advantage": "it is the difference of two means, and in one of them SAD outweighs the other kernels",
    "regmutex-paired-reduction": f"{_CEILING}; {_DENSITY}",
    "regmutex-paired-vs-default": "a difference of two means, in which SAD outweighs the other kernels",
    "regmutex-paired-half-increase": "the paper does not name the kernels of its mean",
    "regmutex-paired-half-vs-default": _DENSITY,
    "regmutex-paired-half-unchanged": "the paper does not name its kernels",
    "regmutex-sad-vs-bfs": "BFS, which waits for memory, gains hardly anything here, also without a limit of registers",
    "regmutex-mergesort-slowdown": "other kernels are slower than without RegMutex, too",
    "regmutex-heuristic-quality": (
        "where warps hold sections for most of their time, sizes with lower occupancy and sections for all are faster"
    ),
}

SUMMARY = (
    "With the registers and extended sets of Table 4.1, how many kernels have a higher occupancy with RegMutex on half"
    " of the register file and with paired warps on the whole one was reproduced, and so was that SAD gains by pairing."
    " Not reproduced were the changes of cycles: RegMutex makes the mean of the kernels slower on both files, RFV and"
    " OWF gain about nothing on the whole file, and half of the file costs less than is printed. What bounds the gains"
    " is seen in the figures: registers without limit gain little on this machine, and warps hold sections longer in"
    " several kernels than there are sections for; no cause was shown by a test."
)
"""What was reproduced, what was not, and why."""
