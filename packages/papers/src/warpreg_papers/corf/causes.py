"""Causes and ablations of `warpreg_papers.corf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from warpreg.evaluation.studies.study import Study
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.corf import samples
from warpreg_papers.corf.contradictions import CONTRADICTIONS, most_saved
from warpreg_papers.corf.designs import BOTH, MACHINE, PLAIN, timed
from warpreg_papers.corf.limits import LIMITS
from warpreg_papers.corf.mix import printed_mix
from warpreg_papers.corf.results import APART
from warpreg_papers.corf.samples import mean
from warpreg_papers.reading import Reading

__all__ = ["ABLATIONS", "CAUSES", "CONTRADICTIONS", "LIMITS", "READINGS", "REMARKS", "SUMMARY"]

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
_LIVE = Cause(
    "compiler", "where registers are reused more, more of them hold a value that is still needed", "less-reuse"
)
_BANKS = Cause(
    "model",
    "if the number of the register alone picks a bank of the baseline, equal registers of all warps meet there, while"
    " physical registers of a design that renames do not; packing then gains most of that too, of which no"
    " gain is printed",
    "by-register",
)
_OWN = Cause(
    "model",
    "where first fit begins is not printed; at the first physical register of the SM it puts values of different warps"
    " together, which no instruction reads",
    "own-first",
)
CAUSES: Mapping[str, Cause] = {
    "corf-narrow-ops": _MIX,
    "corf-single-byte-ops": _REUSE_AND_MIX,
    "corf-coalesceable": _MIX,
    "corf-first-fit-coalesced": _OWN,
    "corf-coalesced": _REUSE_AND_MIX,
    "corf-pp-coalesced": _REUSE_AND_MIX,
    "corf-pair-success": _MIX,
    "corf-size-change-writes": _REUSE,
    "corf-access-reduction-fp": _REUSE,
    "corf-pp-vs-corf-accesses": _REUSE,
    "corf-table21-corfpp-reads": _REUSE_AND_MIX,
    "corf-table21-corf-size": _LIVE,
    "corf-table21-corfpp-size": _LIVE,
    "corf-ipc-int": _BANKS,
    "corf-ipc-fp": _BANKS,
    "corf-ipc-all": _BANKS,
    "corf-pp-ipc-int": _BANKS,
    "corf-pp-ipc-fp": _BANKS,
    "corf-pp-ipc-all": _BANKS,
    "corf-ch1-pp-ipc": _BANKS,
    "corf-table21-corf-ipc": _BANKS,
    "corf-table21-corfpp-ipc": _BANKS,
}

_READS = (
    "with addresses of 64 bits, which the paper's machine does not have, loads and stores read two registers or more,"
    " and the share is as printed; with 32 bits they read one"
)
_BOUNDED = (
    "the printed shares of coalesced instructions and of their reads allow no more than"
    f" {most_saved('corf-coalesced'):.0%} of all accesses with CORF, if there were no writes, which is less than is"
    " printed, by no more than its tolerance; and fewer instructions are coalesced here"
)
_BOUNDED_FP = "fewer instructions are coalesced here; floating point values have few narrow ones"
_ENERGY = (
    "it falls with accesses alone, of which the printed shares allow CORF to save no more than"
    f" {most_saved('corf-coalesced'):.0%} and CORF++ {most_saved('corf-pp-coalesced'):.0%}, before the printed"
    " overhead; and the power of section 2.8 is charged for each operand of one SM here; charged once for the chip it"
    " would be near the printed overhead, see the figure of its readings"
)
_FULL = (
    "with the printed overhead, both printed savings follow from the printed sizes if warps have 93% of the register"
    " file; here they have less, and what no warp has is gated too; without that see the figure of resident warps"
)


def _overhead_of_chip(study: Study) -> float | None:
    """The mean overhead of CORF and CORF++ if the power of the logic is that of the chip."""
    if not study.in_all([PLAIN, *map(timed, BOTH.values())]):
        return None
    found = [mean(study, samples.overheads(study, variant, "chip")) for variant in BOTH.values()]
    return fmean(one for one in found if one is not None)


READINGS: Mapping[str, Reading] = {
    "corf-dynamic-overhead": Reading(
        "the power of section 2.8 is charged for each operand of one SM; the text does not say of what it is, and by"
        " the other reading it is that of the logic of the whole chip",
        _overhead_of_chip,
    )
}
REMARKS: Mapping[str, str] = {
    "corf-multi-operand-read-share": _READS,
    "corf-access-reduction-int": _BOUNDED,
    "corf-access-reduction-all": _BOUNDED,
    "corf-table21-corf-reads": _BOUNDED,
    "corf-pp-access-reduction-fp": _BOUNDED_FP,
    "corf-dynamic-energy": _ENERGY,
    "corf-pp-dynamic-energy": _ENERGY,
    "corf-table21-corf-dyn": _ENERGY,
    "corf-table21-corfpp-dyn": _ENERGY,
    "corf-packing-leakage": _FULL,
    "corf-pp-leakage": _FULL,
}

SUMMARY = (
    "Reproduced were the share of instructions that read several registers, the sizes that packing, virtualization and"
    " both leave, that packing costs neither time nor energy, the leakage of added hardware and the code growth."
    " Not reproduced were the opportunity to coalesce and what CORF and CORF++ make of it: pairs that fit, coalesced"
    " instructions, accesses, speed, dynamic and leakage energy. The reasons are that printed means imply 15 integer"
    " benchmarks of 20, of which the workloads here, chosen by a rule, have 6; that registers hold several values where"
    " the compiler reuses them; that the reductions of accesses by CORF++ exceed what other printed numbers allow; and"
    " that most of CORF's gain of speed appears only with banks in which equal registers of all warps meet, where"
    " packing gains most of it too; most of the rest is not explained."
)
"""What was reproduced, what was not, and why."""
