"""Causes and ablations of `warpreg.experiments.papers.tfet.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.contradiction import Contradiction

ABLATIONS: Mapping[str, Ablation] = {
    "late-release": Ablation(
        "registers are released when they are written again, and not after their last read",
        parts=("cmos-ra", "words"),
        parameters={design: {"release": False} for design in ("cmos-ra", "mem-ra", "ideal-mem-ra")},
    ),
}
_HELD = Cause(
    "model",
    "registers that are released after their last read, as section 3.2 says, leave CMOS registers free where all are"
    " claimed, so that TFET registers are needed for few values",
    "late-release",
)
CAUSES: Mapping[str, Cause] = {
    "tfet-cmos-ra-slowdown": _HELD,
    "tfet-cmos-ra-mm": _HELD,
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

_SPLIT = (
    "with the derived energies most of the baseline's energy is leakage, which TFET registers do not have, and an"
    " access takes less than a fifth of the energy; the printed share would be left if the baseline leaked almost"
    " nothing, while the paper saves 20% of all energy in leakage alone; figure energy-band shows the ends between"
    " which the inputs lie"
)
_SLEEP = (
    "more of the baseline's energy is leakage here, and warps wait longer, so that more of it is saved; the paper"
    " prints neither the leakage of drowsy registers nor when a warp counts as stalled"
)
_SLOW = (
    "it follows from how often warps could issue while they wait: an instruction with TFET sources keeps the read stage"
    " for two cycles, which costs time only where the stage would be busy"
)
_WAITS = (
    "lps and matrix-mul wait for memory here, as the paper's LPS and MM do not: lps opens a row of DRAM for every"
    " second burst, and a thread block of matrix-mul has all 1024 threads of an SM, which wait together before each"
    " tile; the memory-intensive benchmarks wait longer too"
)
REMARKS: Mapping[str, str] = {
    "tfet-stall-share": _WAITS,
    "tfet-stall-compute": _WAITS,
    "tfet-all-tfet-slowdown": (
        "kernels that wait for memory hardly slow down, and these wait longer here; of the four whose time almost"
        " doubles in the paper, three slow down by less, and cp, whose square roots keep the SFU busy, least"
    ),
    "tfet-ideal-mem-ra": (
        "matrix-mul waits before each tile, so that its sums are in TFET registers after it also in a file of the ideal"
        " size; where the paper's MM does not wait, all its registers are CMOS"
    ),
    "tfet-drowsy-energy-saving": _SLEEP,
    "tfet-mem-ra-slowdown": _SLOW,
    "tfet-mem-ra-mem-slowdown": _SLOW,
    "tfet-mem-ra-dynamic": _SPLIT,
    "tfet-mem-ra-mem-dynamic": _SPLIT,
    "tfet-sla-degradation": (
        "the scan waits for memory much of its time here, so that the delay of slow registers disappears in its"
        " waits even where their prediction is wrong"
    ),
    "tfet-renaming-slowdown": (
        "the stage costs a cycle after each control instruction; vectors in the order of the free lists spread over the"
        " banks in another way than registers of the plain file, which can gain more than that"
    ),
}
