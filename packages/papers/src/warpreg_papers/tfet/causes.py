"""Causes and ablations of `warpreg_papers.tfet.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.evaluation.studies.study import Study
from warpreg_papers import published
from warpreg_papers.ablation import Ablation
from warpreg_papers.cause import Cause
from warpreg_papers.contradiction import Contradiction
from warpreg_papers.limit import Limit
from warpreg_papers.tfet import frames
from warpreg_papers.tfet.designs import BASELINE, GATED
from warpreg_papers.tfet.frames import mean

ABLATIONS: Mapping[str, Ablation] = {
    "narrow-addresses": Ablation(
        "addresses of 32 bits, in a register each, as on GPUs of compute capability 1.x",
        parts=("cmos-ra",),
        choice={"address_bits": 32},
    ),
}
CAUSES: Mapping[str, Cause] = {
    "tfet-cmos-ra-mm": Cause(
        "compiler",
        "addresses have 64 bits here, and take pairs of the 16 registers of a thread of matrix-mul",
        "narrow-addresses",
    ),
}

_GATED = (
    "CMOS registers that are gated are 22% of those that warps may claim (section 3.3), so that no more than 22% of the"
    " leakage can be saved, and leakage is no more of the energy than what the dynamic saving leaves"
)


def _leakage_saved(cmos_share: float, dynamic_saving: float) -> float:
    """The most leakage that gating saves, of all energy, if a part of all energy is a dynamic saving."""
    return (1 - cmos_share) * (1 - dynamic_saving)


CONTRADICTIONS: Mapping[str, Contradiction] = {
    "tfet-mem-ra-mem-leakage": Contradiction(_GATED, ("tfet-cmos-share", "tfet-mem-ra-mem-dynamic"), _leakage_saved),
    "tfet-mem-ra-mem-energy-saving": Contradiction(
        f"it is the dynamic and the leakage saving together; {_GATED}",
        ("tfet-cmos-share", "tfet-mem-ra-mem-dynamic"),
        lambda cmos_share, dynamic: dynamic + _leakage_saved(cmos_share, dynamic),
    ),
    "tfet-all-tfet-energy": Contradiction(
        "MEM_RA saves 20% of all energy in leakage, which is no more than 22% of the leakage (section 3.3), so that at"
        " least 91% of the energy is leakage; TFET registers hardly leak, and 0.3 V instead of 0.7 V leave less than a"
        " fifth of the rest",
        ("tfet-cmos-share", "tfet-mem-ra-leakage", "tfet-cmos-voltage", "tfet-tfet-voltage"),
        lambda cmos_share, leakage_saved, high, low: (1 - leakage_saved / (1 - cmos_share)) * (low / high) ** 2,
    ),
}


def _gated_at_most(study: Study) -> float | None:
    """The most leakage that the gating of section 3.3 saves, of all energy: 22% of the leakage of the baseline."""
    if not study.in_all([BASELINE]):
        return None
    leakage = mean(study, {name: cost.leakage for name, cost in frames.energies(study, GATED).items()})
    return None if leakage is None else (1 - published.number("tfet-cmos-share")) * leakage


def _saved_at_most(study: Study) -> float | None:
    """That, and the printed dynamic part."""
    gated = _gated_at_most(study)
    return None if gated is None else published.number("tfet-mem-ra-dynamic") + gated


_LEAKS = (
    "section 3.3 gates 22% of the CMOS registers that warps may claim, so that no more than 22% of the leakage is"
    " saved; the limit is that part of the baseline's leakage with the derived energies, from which that of added"
    " hardware and of the longer time still goes off"
)
LIMITS: Mapping[str, Limit] = {
    "tfet-mem-ra-leakage": Limit(_LEAKS, _gated_at_most),
    "tfet-mem-ra-energy-saving": Limit(
        f"it is the dynamic part, as printed, and the leakage part: {_LEAKS}", _saved_at_most
    ),
}
REMARKS: Mapping[str, str] = {
    "tfet-renaming-slowdown": (
        "the stage costs a cycle after each control instruction (section 3.2: it does not affect back-to-back"
        " latencies), and other warps hide that cycle"
    ),
    "tfet-stall-share": (
        "computation-intensive benchmarks hardly wait, as in the paper; bfs, transpose and nn, which move far more"
        " than they compute, wait half of their time or more, and the paper prints no inputs"
    ),
    "tfet-all-tfet-slowdown": (
        "the four benchmarks whose time almost doubles in the paper slow down most here too; others wait for memory,"
        " where slow registers matter less; in the simulator a write of two cycles would stall all stages before it,"
        " while stores and branches pass here"
    ),
    "tfet-mem-ra-mem-dynamic": (
        "much of the energy of warps that wait is leakage, and results of loads, which never are in TFET registers by"
        " choice, are a large part of what these kernels write"
    ),
    "tfet-ideal-mem-ra": (
        "a file of the ideal size has no CMOS registers beyond those in use at a time, which saves more leakage than"
        " the gating of section 3.3; matrix-mul waits a little before each tile, so that some of its sums are in TFET"
        " registers after it"
    ),
}

SUMMARY = (
    "On the machine of the simulator that the paper describes, the cost of the added hardware, the time that drowsy"
    " registers, CMOS_RA and MEM_RA lose, the savings of drowsy registers and of CMOS_RA, and which four benchmarks"
    " suffer most from a file of TFET registers were reproduced. Not reproduced were the savings of MEM_RA, whose"
    " leakage part is far smaller here, the size of the slowdown by TFET registers alone and of that of MM under"
    " CMOS_RA, and the comparison with the ideal size. The reasons are that the gating of section 3.3 cannot save as"
    " much leakage as is printed, so that three results contradict other numbers of the paper, that energies and"
    " inputs are not printed, and that code of today has wider addresses; the rest is not explained."
)
"""What was reproduced, what was not, and why."""
