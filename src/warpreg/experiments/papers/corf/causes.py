"""Causes and ablations of `warpreg.experiments.papers.corf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

_BOTH = ("corf", "corf-pp")
ABLATIONS: Mapping[str, Ablation] = {
    "no-carry": Ablation(
        "bytes of inactive lanes follow a value that moves without a read (section 2.6 names none)",
        parts=("coalescing", "table"),
        parameters={design: {"carry": False} for design in (*_BOTH, "packing")},
    ),
    "profile": Ablation(
        "pairs and sides by the block frequencies of the run (section 2.4.1) instead of estimated ones",
        parts=("coalescing",),
        parameters={design: {"frequencies": "profile"} for design in _BOTH},
    ),
    "no-release": Ablation(
        "CORF and CORF++ without virtualization: registers keep their place when they are dead",
        parts=("coalescing",),
        parameters={design: {"virtualization": False} for design in _BOTH},
    ),
    "addresses-32": Ablation(
        "addresses of 32 bits", parts=("performance", "sizes", "code"), choice={"address_bits": 32}
    ),
}

_ADDRESSES = Cause(
    "compiler",
    "addresses of 64 bits take two registers, one of which is narrow and both of which die early; the paper's machine"
    " has addresses of 32 bits",
    "addresses-32",
)
CAUSES: Mapping[str, Cause] = {
    "corf-ipc-fp": _ADDRESSES,
    "corf-packing-size": _ADDRESSES,
    "corf-combined-size": _ADDRESSES,
    "corf-code-size": _ADDRESSES,
}

_CARRIED = (
    "a write in code that may be divergent keeps the other lanes, so that a value which outgrows its place there takes"
    " their bytes along with one more read; the paper does not speak of these reads, and finds fewer such values"
)
_REDUCTION = (
    f"{_CARRIED}. Nor do the paper's own shares give its reduction: 23% or 48% of the 40% of instructions that read"
    " several registers save a read each, of more than one read and nearly one write an instruction"
)
_LOGIC = (
    "the power of section 2.8 for the logic, drawn by each SM in every cycle, is more than the printed overhead"
    " at the rate of accesses here; lookups of the renaming table, at the energy of Table 2.2, are less than it"
)
_EMPTY = (
    "the printed savings agree with the printed sizes if the registers of resident warps are more than nine tenths of"
    " the register file; here they are fewer, and what no warp has is gated too"
)
REMARKS: Mapping[str, str] = {
    "corf-first-fit-coalesced": (
        "which registers first fit puts together depends on the order of allocation among all warps of an SM"
    ),
    "corf-access-reduction-int": _REDUCTION,
    "corf-access-reduction-fp": _REDUCTION,
    "corf-access-reduction-all": _REDUCTION,
    "corf-pp-access-reduction-int": _REDUCTION,
    "corf-pp-access-reduction-fp": _REDUCTION,
    "corf-table21-corf-reads": _REDUCTION,
    "corf-pp-vs-corf-accesses": _CARRIED,
    "corf-size-change-writes": _CARRIED,
    "corf-dynamic-energy": _LOGIC,
    "corf-pp-dynamic-energy": _LOGIC,
    "corf-dynamic-overhead": _LOGIC,
    "corf-table21-corf-dyn": _LOGIC,
    "corf-table21-corfpp-dyn": _LOGIC,
    "corf-packing-leakage": _EMPTY,
    "corf-pp-leakage": _EMPTY,
}
