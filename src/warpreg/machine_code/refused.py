"""Machine instructions that are not executed, and why: what one does, by its opcode."""

from __future__ import annotations

from collections.abc import Sequence

ARRIVALS = "counts arrivals (mbarrier on sm_80)"
INCOMPLETE = "arrives without completing a phase (mbarrier.arrive.noComplete)"
PURPOSES = {
    "HGMMA IGMMA QGMMA BGMMA DGMMA WARPGROUP WARPGROUPSET": "multiplies matrices of a warp group (wgmma)",
    "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL": "copies tensors (cp.async.bulk.tensor)",
    "RPCMOV": INCOMPLETE,
    "STAS REDAS": "writes to shared memory of a cluster of thread blocks (st.async, red.async)",
    "UCGABAR_ARV UCGABAR_WAIT UCGABAR_GET UCGABAR_SET MAPA UMAPA": "belongs to a cluster of thread blocks",
    "SUATOM SUQUERY": "changes a surface, and returns what was there",
    "TLD4 TMML TXA FOOTPRINT": "gathers or filters texels in a form that is not known",
    "R2B": "sets a barrier from a register, which no PTX is known to need",
}
REASONS = {opcode: purpose for opcodes, purpose in PURPOSES.items() for opcode in opcodes.split()}
SPARSE = "multiplies sparse matrices (mma.sp)"


def reason(opcode: str, modifiers: Sequence[str]) -> str:
    """Why an instruction is not executed."""
    purpose = REASONS.get(opcode, "")
    if "SP" in modifiers:
        purpose = SPARSE
    elif "TMASK" in modifiers:
        purpose = INCOMPLETE
    elif "ARRIVE" in modifiers:
        purpose = ARRIVALS
    return f"{purpose}, which is not supported" if purpose else "is no known machine instruction"
