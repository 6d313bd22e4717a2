"""Machine instructions that are not executed, and why: what one does, by its opcode."""

from __future__ import annotations

from collections.abc import Sequence

ARRIVALS = "counts arrivals (mbarrier)"
PURPOSES = {
    "HGMMA IGMMA QGMMA BGMMA DGMMA WARPGROUP WARPGROUPSET": "multiplies matrices of a warp group (wgmma)",
    "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH": "copies tensors (cp.async.bulk.tensor)",
    "UBLKCP UBLKRED UBLKPF": "copies blocks of memory asynchronously (cp.async.bulk)",
    "SYNCS ARRIVES": ARRIVALS,
    "UCGABAR_ARV UCGABAR_WAIT UCGABAR_GET UCGABAR_SET MAPA UMAPA": "belongs to a cluster of thread blocks",
    "SUATOM SUQUERY": "changes a surface, and returns what was there",
    "TLD4 TMML TXA FOOTPRINT": "gathers or filters texels in a form that is not known",
    "R2B": "sets a barrier from a register, which no PTX is known to need",
}
REASONS = {opcode: purpose for opcodes, purpose in PURPOSES.items() for opcode in opcodes.split()}
SPARSE = "multiplies sparse matrices (mma.sp)"


def reason(opcode: str, modifiers: Sequence[str]) -> str:
    """Why an instruction is not executed."""
    purpose = SPARSE if "SP" in modifiers else ARRIVALS if "ARRIVE" in modifiers else REASONS.get(opcode, "")
    return f"{purpose}, which is not supported" if purpose else "is no known machine instruction"
