"""Causes and ablations of `warpreg.experiments.papers.corf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.corf.contradictions import CONTRADICTIONS
from warpreg.experiments.papers.corf.designs import MACHINE
from warpreg.experiments.papers.corf.mix import printed_mix
from warpreg.experiments.papers.corf.results import APART

__all__ = ["ABLATIONS", "CAUSES", "CONTRADICTIONS", "REMARKS", "SUMMARY"]

_BOTH = ("corf", "corf-pp")
_OF_CODE = ("values", "coalescing", "performance", "sizes", "energy", "table", "code")
_OF_MIX = tuple(part for part in _OF_CODE if part != "code")
MIX = printed_mix()
ABLATIONS: Mapping[str, Ablation] = {
    "mix-of-classes": Ablation(
        "integer workloads with three quarters of the weight, as the printed means imply", parts=_OF_MIX, mix=MIX
    ),
    "less-reuse": Ablation(f"values take turns among {APART} registers", parts=_OF_CODE, choice={"rotate": APART}),
    "less-reuse-mix": Ablation(
        f"values take turns among {APART} registers, and integer workloads have three quarters of the weight",
        parts=_OF_CODE,
        choice={"rotate": APART},
        mix=MIX,
    ),
    "by-register": Ablation(
        "the baseline has equal registers of all warps in one bank",
        parts=("performance", "table"),
        machine={"machine": {MACHINE: f"{MACHINE}-by-register"}},
    ),
    "own-first": Ablation(
        "first fit looks at physical registers of the warp's own before all others",
        parts=("coalescing",),
        parameters={design: {"search": "warp"} for design in ("packing", "corf")},
    ),
}

_MIXED = (
    "three quarters of the paper's benchmarks compute on integers, as its means imply, and less than a third of those"
    " that the rule chose; integers are narrower"
)
_MIX = Cause("input", _MIXED, "mix-of-classes")
_REUSED = (
    "one register holds many values of different widths, so that what the compiler pairs are registers and not values"
)
_REUSE = Cause("compiler", _REUSED, "less-reuse")
_REUSE_AND_MIX = Cause("compiler", f"{_REUSED}. And {_MIXED}", "less-reuse-mix")
_BANKS = Cause(
    "model",
    "if the number of the register alone picks a bank of the baseline, equal registers of all warps meet there, while"
    " physical registers of a design that renames do not",
    "by-register",
)
_OWN = Cause(
    "model",
    "where first fit begins is not printed; at the first physical register of the SM it puts values of different warps"
    " together, which no instruction reads",
    "own-first",
)
_LOGIC = Cause(
    "model",
    "the power of section 2.8 has no unit that draws it; it is charged for each operand of one SM",
    "logic-of-chip",
)
CAUSES: Mapping[str, Cause] = {
    "corf-narrow-ops": _MIX,
    "corf-coalesceable": _MIX,
    "corf-first-fit-coalesced": _OWN,
    "corf-coalesced": _REUSE_AND_MIX,
    "corf-pp-coalesced": _REUSE_AND_MIX,
    "corf-pair-success": _REUSE,
    "corf-size-change-writes": _REUSE,
    "corf-access-reduction-int": _REUSE,
    "corf-access-reduction-fp": _REUSE,
    "corf-access-reduction-all": _REUSE_AND_MIX,
    "corf-pp-access-reduction-fp": _REUSE,
    "corf-pp-vs-corf-accesses": _REUSE_AND_MIX,
    "corf-table21-corf-reads": _REUSE_AND_MIX,
    "corf-table21-corfpp-reads": _REUSE_AND_MIX,
    "corf-packing-size": _REUSE,
    "corf-virtualization-size": _REUSE,
    "corf-combined-size": _REUSE,
    "corf-ipc-int": _BANKS,
    "corf-ipc-fp": _BANKS,
    "corf-ipc-all": _BANKS,
    "corf-pp-ipc-int": _BANKS,
    "corf-pp-ipc-fp": _BANKS,
    "corf-pp-ipc-all": _BANKS,
    "corf-ch1-pp-ipc": _BANKS,
    "corf-table21-corf-ipc": _BANKS,
    "corf-table21-corfpp-ipc": _BANKS,
    "corf-dynamic-energy": _LOGIC,
    "corf-pp-dynamic-energy": _LOGIC,
    "corf-dynamic-overhead": _LOGIC,
    "corf-table21-corf-dyn": _LOGIC,
    "corf-table21-corfpp-dyn": _LOGIC,
}

_FULL = (
    "with the printed overhead, both printed savings follow from the printed sizes if warps have 93% of the register"
    " file; here they have less, and what no warp has is gated too; without that see the figure of resident warps"
)
REMARKS: Mapping[str, str] = {"corf-packing-leakage": _FULL, "corf-pp-leakage": _FULL}

SUMMARY = ""
"""What was reproduced, what was not, and why."""
