"""Causes and ablations of `warpreg_papers.orf_lrf.results`, and remarks on results that none explains.

The paper placed operands in PTX; whether a scheduler had reordered it is not printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause

PRIOR_ENTRIES = 6
"""Entries of the earlier hardware cache (section 2.2)."""
LARGEST_PROBABLE = 5
"""ORF entries: the largest of the sizes that section 6.1 calls probable."""

ABLATIONS: Mapping[str, Ablation] = {
    "scheduled": Ablation(
        "instructions scheduled for the latencies of Table 2", parts=("counts", "benchmarks"), choice={"schedule": True}
    ),
    "lrf-for-all": Ablation(
        "the LRF serves SFU, MEM and TEX too", parts=("counts",), parameters={"orf-lrf": {"lrf_for_all": True}}
    ),
    "cache-of-six": Ablation(
        f"hardware caches of {PRIOR_ENTRIES} entries", parts=("counts",), parameters={"rfc": {"entries": PRIOR_ENTRIES}}
    ),
    "orf-of-five": Ablation(
        f"ORFs of {LARGEST_PROBABLE} entries", parts=("counts",), parameters={"orf-lrf": {"entries": LARGEST_PROBABLE}}
    ),
    "reduction-stepped": Ablation(
        "reduction with a loop in each thread, along with which an address steps",
        parts=("benchmarks",),
        code={"reduction": Path(__file__).parent / "other_code" / "reduction_stepped.py"},
    ),
}

_SCHEDULED = Cause(
    "compiler",
    "section 4.2 has scheduled PTX, and names no scheduler; in PTX as it is written values are read soon after they are"
    " made, which a hardware cache holds nearly as well as the compiler's placement",
    "scheduled",
)
_SHARED = Cause(
    "input",
    "SFU, MEM and TEX, which do not reach the LRF, read far more of the values here than the 7% of the paper",
    "lrf-for-all",
)
CAUSES: Mapping[str, Cause] = {
    "orf-sw-orf-vs-hw-rfc": _SCHEDULED,
    "orf-sw3-vs-hw-rfc": _SCHEDULED,
    "orf-sw3-vs-hw3": _SCHEDULED,
    "orf-mrf-reads-vs-rfc": _SCHEDULED,
    "orf-scalarprod-saving": _SCHEDULED,
    "orf-lrf-takes-orf-accesses": _SHARED,
    "orf-lrf-read-share": _SHARED,
    "orf-lrf-read-share-split": _SHARED,
    "orf-opt-mrf-read-reduction": Cause(
        "model",
        "the entries of the ORF are not printed for this result; just before it, two to five are called probable"
        " (section 6.1). Values that live long enough to be shortened or filled need room",
        "orf-of-five",
    ),
    "orf-limit-backward-branch": Cause(
        "model",
        "the entries of the hardware variant are not printed; the earlier cache has six (section 2.2). At the end of a"
        " loop three entries hold few values that the next turn reads, and turns are long here; only short loops lose"
        " much",
        "cache-of-six",
    ),
    "orf-reduction-saving": Cause(
        "compiler",
        "the paper's code has a tight loop along which addresses step, so that they live from turn to turn; here a"
        " thread adds two elements and then a tree",
        "reduction-stepped",
    ),
}
REMARKS: Mapping[str, str] = {
    "orf-overhead-writes-sw": "where loops are short, many results are needed in their strand and in the next turn",
    "orf-overhead-writes-hw": (
        "a value that is not read by the next instructions moves from the LRF to the RFC and, if it lives on, to the"
        " MRF; eight entries instead of six, or other rules of waiting, hardly change this, and scheduled code has more"
    ),
    "orf-limit-variable-orf": (
        "strands could use more entries: eight at the energy of three save here as much as printed. How time, and warps"
        " that wait, enter the oracle is not printed; here issued instructions are its time"
    ),
}

SUMMARY = (
    "How often values are read, the energy that each hierarchy saves over a single level, what a split LRF and the two"
    " optimizations gain, overheads of the encoding, and all limit studies but two were reproduced. Not reproduced were"
    " how far the compiler is ahead of hardware caches, the share of reads that the LRF serves, the overhead writes of"
    " the hardware, and the savings of the two smallest benchmarks. The reasons are that the text does not say whether"
    " a scheduler had reordered the PTX, that shared units read more values in these kernels, that the entries of two"
    " comparisons are not printed, and that benchmarks of the same name have other loops; two results are not"
    " explained."
)
"""What was reproduced, what was not, and why."""
