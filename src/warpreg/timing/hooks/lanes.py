"""Where the addresses of lanes are, for designs that ask for them.

Those of an access that is not affine stand behind the transactions of its record, one for each active lane.
``plan.lanes`` is the same memory.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import LANE_MASK, LANES_AT
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core.bitset import count
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE
from warpreg.timing.hooks import adapters
from warpreg.timing.sm import issue


@stands_for(issue.record_words, when.LANES)
def record_words(c: Core, access: int) -> int:
    """Length in words of the access record at ``access``, lanes included."""
    head = c.slab[access]
    space = head >> record.SPACE_SHIFT & 255
    if space == record.SHARED or space == record.CONSTANT:
        return record.HEADER_WORDS
    words = record.HEADER_WORDS + (head >> record.TRANSACTIONS_SHIFT)
    return words + count(head & 0xFFFFFFFF) if c.slab[access + 2] == record.IRREGULAR else words


@stands_for(adapters.see_lanes, when.LANES)
def see_lanes(c: Core, d: Any, access: int) -> None:
    if access != NONE:
        head = c.slab[access]
        d.plan.lane_at[LANES_AT] = access + record.HEADER_WORDS + (head >> record.TRANSACTIONS_SHIFT)
        d.plan.lane_at[LANE_MASK] = head & 0xFFFFFFFF
