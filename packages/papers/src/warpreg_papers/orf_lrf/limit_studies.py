"""The limit studies of the compiler-managed hierarchy as named sets of parameters (MICRO 2011, section 7).

Each is compared with the best realistic design, three ORF entries and a split LRF.  `variable_orf` contains the oracle
of variable sizes; the flush of a hardware cache at backward branches is an option of design ``rfc``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpreg.evaluation.runs.row import Value
from warpreg.ir.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Limit:
    """``parameters`` of design orf-lrf; ``wires`` states whether the paper's figure includes wire energy."""

    title: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    wires: bool = True


LIMITS: Mapping[str, Limit] = {
    "all-lrf": Limit("every access in the LRF", {"ideal": "lrf"}, wires=False),
    "all-orf-5": Limit("every access in an ORF of 5 entries", {"ideal": "orf", "entries": 5}, wires=False),
    "6-active-warps": Limit("6 active warps share the ORF of 8", {"entries": 4, "active_warps": 6}),
    "no-flush-at-backward-branches": Limit("strands go on at backward branches", {"flush_at_backward_branches": False}),
    "8-entries-at-3": Limit("8 entries at the energy of 3", {"entries": 8, "priced_entries": 3}),
    "5-entries-at-3": Limit("5 entries at the energy of 3", {"entries": 5, "priced_entries": 3}),
    "no-flush-when-descheduled": Limit("every warp keeps its ORF and LRF", {"flush_when_descheduled": False}),
    "both-levels": Limit("a value may be in LRF and ORF at once (section 4.6)", {"both": True}),
}


def limit(name: str) -> Limit:
    """A limit study by name.  Raises UnknownNameError."""
    if name not in LIMITS:
        raise UnknownNameError("limit study", name, LIMITS)
    return LIMITS[name]
