"""The last result file: one entry per warp, or one per operand slot, for the private datapath only (section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpreg.designs.interface.plan import PRIVATE
from warpreg.designs.parts.placement.allocate import Allocation, Allocator, Entries, Outcome
from warpreg.designs.parts.placement.candidates import Candidate

Lrf = str
"""``none``, ``unified`` or ``split``."""
BANKS: dict[Lrf, int] = {"none": 0, "unified": 1, "split": 3}
"""Entries per warp; the split file has one for each of the operand slots A, B and C."""


def bank_of(candidate: Candidate, lrf: Lrf) -> int | None:
    """The bank that can hold a candidate, None if none can.

    The candidate must be a 32-bit result of the private datapath that only this datapath reads; in the split file, all
    reads must use one operand slot.
    """
    shared = any(write.datapath != PRIVATE or write.shared_reader for write in candidate.writes)
    if lrf == "none" or candidate.fill or candidate.width > 1 or shared:
        return None
    if any(read.datapath != PRIVATE for read in candidate.reads):
        return None
    if lrf == "unified":
        return 0
    slots = {read.slot for read in candidate.reads}
    slot = slots.pop()
    return slot if not slots and slot < BANKS[lrf] else None


def allocate_lrf(candidates: Sequence[Candidate], lrf: Lrf, allocator: Allocator) -> Outcome:
    """Place the candidates that save energy, bank by bank; the others are refused."""
    whole = Outcome()
    for bank in range(BANKS[lrf]):
        found = allocator.allocate([c for c in candidates if bank_of(c, lrf) == bank], Entries(1))
        whole.refused += found.refused
        whole.placed += [_in_bank(placed, bank) for placed in found.placed]
    return whole


def _in_bank(placed: Allocation, bank: int) -> Allocation:
    return replace(placed, entry=bank)
