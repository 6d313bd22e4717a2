"""Workloads, machine and designs of the study of the coalescing operand register file.

The paper uses 20 benchmarks of Rodinia, Parboil, the CUDA SDK and Tango (section 2.7) and names six of them.  Those
here were fixed by this rule before anything was measured: the six that chapter 2 names; then those of these suites in
Table 3.3 of the same thesis; then those of its Table 4.1, in its order, until there are 20.  A workload is ``int`` or
``fp`` by the type of the data that its kernels compute on; the paper distinguishes integer-intensive and floating
point-intensive benchmarks (section 2.3) without a list.

All designs run the same sample on one SM (`warpreg.evaluation.runs.sampling`): up to 4 launches of each kernel, evenly
spaced, and of each the first thread blocks with 300,000 warp-instructions in total, but at least one and at most four
fillings of the SM.  A kernel with too many registers for a single thread block occupies as many as fit; its code does
not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.runs.sampling import OneSm
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sampled
from warpreg.evaluation.studies.study import Measure

MACHINE, TECHNOLOGY = "corf-fermi", "corf"
NAMED = ("sgemm", "black-scholes", "bfs", "b-tree", "sad", "gaussian")
OF_TABLE_3_3 = ("backprop", "mummergpu", "nw", "srad", "cifarnet", "squeezenet", "vector-add")
OF_TABLE_4_1 = ("cutcp", "dwt2d", "hotspot3d", "mri-q", "particlefilter", "radix-sort", "heartwall")
WORKLOADS = (*NAMED, *OF_TABLE_3_3, *OF_TABLE_4_1)
INT, FP = "int", "fp"
INTEGER = frozenset({"bfs", "b-tree", "sad", "mummergpu", "nw", "radix-sort"})

PACKING = Variant.of("packing", survey=True)
"""Also counts operands by width, and instructions that could be coalesced."""
VIRTUALIZATION = Variant.of("virtualization")
COMBINED = Variant.of("packing", virtualization=True)
FIRST_FIT = Variant.of("packing", coalesce=True)
CORF = Variant.of("corf", survey=True)
CORF_PP = Variant.of("corf-pp", survey=True)
SPREAD = Variant.of("corf-pp", survey=True, warp_banks=False)
"""Registers of a warp in all banks, as in the baseline."""
NEIGHBOURS = Variant.of("corf-pp", survey=True, bank_stride=12)
"""The pathological case of section 2.5.2: as many neighbours as are active share a bank."""
MAPPINGS: Mapping[str, Variant] = {
    "a warp in one bank": CORF_PP, "registers in all banks": SPREAD, "active warps in one bank": NEIGHBOURS,
}  # fmt: skip
BOTH: Mapping[str, Variant] = {"corf": CORF, "corf-pp": CORF_PP}
"""The designs whose results have an id of their own, by the start of that id."""
COALESCING: Mapping[str, Variant] = {"first fit": FIRST_FIT, "CORF": CORF, "CORF++": CORF_PP}
SMALLER: Mapping[str, Variant] = {"packing": PACKING, "virtualization": VIRTUALIZATION, "both": COMBINED}
TABLE_2_1: Mapping[str, Variant] = {"packing": PACKING, "packing-virt": COMBINED, "corf": CORF, "corfpp": CORF_PP}


def class_of(workload: str) -> str:
    """``int`` or ``fp``; a workload that is not the paper's is ``fp``."""
    return INT if workload in INTEGER else FP


def timed(variant: Variant | None = None) -> Sampled:
    """The measure of a design on the paper's machine; by default, of the main register file alone."""
    return Sampled(MACHINE, variant, OneSm(fitting=True))


PLAIN = timed()
VARIANTS = tuple(dict.fromkeys([*COALESCING.values(), *SMALLER.values(), *MAPPINGS.values()]))
SAMPLES: Sequence[Measure[object]] = (PLAIN, *map(timed, VARIANTS))
