"""Special registers of machine code by their names in PTX."""

from __future__ import annotations

from warpreg.ir.operands import Immediate, Operand, Special

NAMES = {
    **{f"SR_{ours.upper()}.{axis.upper()}": f"%{ours}.{axis}" for ours in ("tid", "ctaid") for axis in "xyz"},
    "SR_LANEID": "%laneid",
    "SR_EQMASK": "%lanemask_eq",
    "SR_LTMASK": "%lanemask_lt",
    "SR_LEMASK": "%lanemask_le",
    "SR_GTMASK": "%lanemask_gt",
    "SR_GEMASK": "%lanemask_ge",
    "SR_CLOCKLO": "%clock",
    "SR_CLOCKHI": "%clock_hi",
    "SR_CLOCK": "%clock64",
    "SR_GLOBALTIMERLO": "%globaltimer_lo",
    "SR_GLOBALTIMERHI": "%globaltimer_hi",
    "SR_VIRTUALSMID": "%smid",
    "SR_SMID": "%smid",
    "SR_WARPID": "%warpid",
    "SR_VIRTID": "%warpid",
    "SR_NWARPID": "%nwarpid",
}


def special(name: str) -> Operand:
    """The register of PTX; 0 for ``SRZ``; a name that is not known stays as it is."""
    return Immediate(0) if name == "SRZ" else Special(NAMES.get(name, name))
