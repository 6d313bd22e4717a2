"""What the designs that rename count, and the quantities that they report over time."""

from __future__ import annotations

(
    MULTIPLE_SOURCES,
    COALESCED,
    COALESCEABLE,
    PLACED,
    GROWN,
    CARRIED,
    SUPERSEDED,
    UNPLACED,
    RELEASED,
    BUDDIES_PLACED,
    BUDDIES_PACKED,
    PAIRS_PLACED,
    PAIRS_PACKED,
    OPERANDS,
    MATCHED,
    FITTING,
    BYTES,
) = range(17)
EVENTS = (
    "multiple_sources", "coalesced", "coalesceable", "placed", "grown", "carried", "superseded", "unplaced", "released",
    "buddies_placed", "buddies_packed", "pairs_placed", "pairs_packed", "operands", "matched", "fitting",
    "one_byte", "two_bytes", "three_bytes", "four_bytes",
)  # fmt: skip
"""Instructions that read two or more registers; of these, with two in one read, and (`survey`) with two of at most four
bytes together.  Results that got a place; of these, values that outgrew theirs; reads of the lanes that such a write
leaves alone.  Results that got another place because sources were pending; results without a place.  Dead values that
were released.  Registers that got a place when their buddy had one; of these, in the same physical register.
Pairs of a warp of which both registers have had a place; of these, that have shared a physical register.
Operands that are packed or unpacked: sources, results, and carried lanes.  Instructions that read a pair
of the compiler, or two registers with different sides, and those in which these fit one physical register (`survey`).
Operands (sources and results) by the bytes that they need (`survey`).
"""

IN_USE, RESIDENT = range(2)
RESOURCES = ("physical registers", "architected registers")
"""Physical registers of which a slice is in use; registers of the warps that run, from their first instruction on."""
