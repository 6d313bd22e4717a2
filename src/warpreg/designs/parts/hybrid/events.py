"""What the designs with two technologies count, and the quantities that they report over time."""

from __future__ import annotations

(
    RENAMED,
    STAYED,
    CARRIED,
    RELEASED,
    CHOSEN,
    LOADS_FORCED,
    OTHERS_FORCED,
    REFUSED,
    UNPLACED,
    PREDICTED,
    PREDICTED_CYCLES,
) = range(11)
EVENTS = (
    "renamed", "stayed", "carried", "released", "chosen", "loads_forced", "others_forced", "refused", "unplaced",
    "predicted", "predicted_cycles",
)  # fmt: skip
"""Destinations that got a vector; that were written in place; of partial writes, reads of the lanes that they leave
alone.  Vectors that are free again, beside those of warps that end.  Destinations that went to TFET vectors by choice;
results of loads, and others, that went there because no CMOS vector was free; that did not go there because no TFET
vector was free; that found none of either kind.  Predictions of stalls, and the cycles that they predicted."""

POWERED_CMOS, POWERED_TFET = range(2)
RESOURCES = ("CMOS registers", "TFET registers")
"""Registers that are on."""
