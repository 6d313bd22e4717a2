"""What LARF counts, and the quantities that it reports over time."""

from __future__ import annotations

(
    LOADS,
    PERFECT,
    PARTIAL,
    WAITED,
    MISSED,
    IRREGULAR_LOADS,
    STRONG_LOADS,
    CROWDED,
    EVICTED,
    OVERWRITTEN,
    FORGOTTEN,
    MERGED,
    CARRIED,
    UNPLACED,
    RELEASED,
    MAX_IN_USE,
) = range(16)
UNORDERED_VALUES, ORDERED_FAULTS, OWN_FAULTS, NOT_FOLLOWED, SEARCHED = range(16, 21)
EVENTS = (
    "global_loads", "perfect", "partial", "waited", "missed", "irregular", "not_words", "crowded", "evicted",
    "overwritten", "forgotten", "merged", "carried", "unplaced", "released", "most_registers", "unordered_values",
    "ordered_faults", "own_faults", "not_followed", "searched",
)  # fmt: skip
"""Global loads; of these, answered by a pointer, or with a merge; of these two, those that waited for a load under way;
sent to memory with an entry; sent without, because their addresses have no single stride, because they are no whole
words or ordered (volatile, acquire), because no register was free or too many loads waited for one.

Entries that left for a newer one, that a store overlapped, and that a fence or an atomic made forget.  Registers read
to be merged; reads of lanes that a write leaves alone; results without a physical register; dead values released; the
sum over SMs of the most physical registers in use.  With versions: shared values of words that another SM has stored
without order; those that it has stored before by an order; those that the own SM has stored; words not followed.  Words
for which the table was searched for two entries.
"""

IN_USE, SHARING = range(2)
RESOURCES = ("physical registers", "mapped registers")
"""Physical registers in use; registers of warps that have one (more, if some share)."""
