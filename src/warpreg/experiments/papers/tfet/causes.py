"""Causes and ablations of `warpreg.experiments.papers.tfet.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

ABLATIONS: Mapping[str, Ablation] = {
    "gate-free": Ablation(
        "CMOS registers that no warp holds are gated too, and not only those that none may claim",
        parts=("cmos-ra", "mem-ra"),
        parameters={design: {"gate_free": True} for design in ("cmos-ra", "mem-ra")},
    ),
    "late-release": Ablation(
        "registers are released when they are written again, and not after their last read",
        parts=("cmos-ra", "words"),
        parameters={design: {"release": False} for design in ("cmos-ra", "mem-ra", "ideal-mem-ra")},
    ),
}
_GATED = Cause(
    "model",
    "only CMOS registers that no warp may claim are off here, as section 3.3 says; no more than 22% of the leakage can"
    " be saved in this way, and the paper saves 26% of all energy in leakage on memory-intensive benchmarks",
    "gate-free",
)
_HELD = Cause(
    "model",
    "registers that are released after their last read, as section 3.2 says, leave CMOS registers free where all are"
    " claimed, so that TFET registers are needed for few values",
    "late-release",
)
CAUSES: Mapping[str, Cause] = {
    "tfet-mem-ra-energy-saving": _GATED,
    "tfet-mem-ra-mem-energy-saving": _GATED,
    "tfet-mem-ra-leakage": _GATED,
    "tfet-mem-ra-mem-leakage": _GATED,
    "tfet-mem-ra-sm-energy": _GATED,
    "tfet-cmos-ra-energy-saving": _GATED,
    "tfet-cmos-ra-slowdown": _HELD,
    "tfet-cmos-ra-mm": _HELD,
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
    "tfet-all-tfet-energy": _SPLIT,
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
