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
_CARRY = Cause(
    "model",
    "a value that outgrows its place while lanes are inactive takes their bytes along with one more read, of which the"
    " paper does not speak",
    "no-carry",
)
_PROFILE = Cause(
    "compiler", "loops without a constant trip count have a fixed weight, so that other pairs are chosen", "profile"
)
_RELEASE = Cause(
    "model",
    "registers that are dead give up their place, so that the two of a pair are less often placed at the same time",
    "no-release",
)
CAUSES: Mapping[str, Cause] = {
    "corf-coalesced": _PROFILE,
    "corf-pp-coalesced": _PROFILE,
    "corf-pair-success": _RELEASE,
    "corf-access-reduction-int": _CARRY,
    "corf-pp-access-reduction-int": _CARRY,
    "corf-access-reduction-fp": _CARRY,
    "corf-pp-access-reduction-fp": _CARRY,
    "corf-access-reduction-all": _CARRY,
    "corf-pp-access-reduction-all": _CARRY,
    "corf-pp-vs-corf-accesses": _CARRY,
    "corf-table21-corf-reads": _CARRY,
    "corf-table21-corfpp-reads": _CARRY,
    "corf-ipc-fp": _ADDRESSES,
    "corf-packing-size": _ADDRESSES,
    "corf-combined-size": _ADDRESSES,
    "corf-code-size": _ADDRESSES,
}

_INPUTS = (
    "the paper does not list its benchmarks; by the rule that chose the workloads here less than a third of them"
    " compute on integers, whose values are narrow"
)
_EMPTY = (
    "the printed savings agree with the printed sizes if the registers of resident warps are more than nine tenths of"
    " the register file; here they are fewer, and what no warp has is gated too"
)
_LOGIC = (
    "the power of section 2.8 is charged for each operand of one SM; charged once for the chip it would be near the"
    " printed overhead, see the figure of its readings"
)
REMARKS: Mapping[str, str] = {
    "corf-dynamic-energy": _LOGIC,
    "corf-pp-dynamic-energy": _LOGIC,
    "corf-dynamic-overhead": _LOGIC,
    "corf-table21-corf-dyn": _LOGIC,
    "corf-table21-corfpp-dyn": _LOGIC,
    "corf-narrow-ops": _INPUTS,
    "corf-coalesceable": _INPUTS,
    "corf-first-fit-coalesced": (
        "which registers first fit puts together depends on the order of allocation among all warps of an SM"
    ),
    "corf-size-change-writes": (
        "with virtualization a value mostly gets a new place because the old one was released; what outgrows its place"
        " are values that other lanes may still need, as loops with exits of single lanes have"
    ),
    "corf-packing-leakage": _EMPTY,
    "corf-pp-leakage": _EMPTY,
}
