"""Access record: one executed memory instruction of a warp, as 64-bit words for the load-store unit.

word 0   mask of active lanes | space << 32 | transactions << 40
word 1   base address: of lane 0 if the addresses are affine, else of the first active lane
word 2   stride from lane to lane in bytes, or IRREGULAR
then, in global, local and texture space, ``transactions`` words of line address | sectors; for a design that asks for
lanes, if the stride is IRREGULAR, the address of each active lane
"""

from __future__ import annotations

GLOBAL, SHARED, LOCAL, TEXTURE, CONSTANT, GENERIC = range(6)
"""State spaces.  GENERIC occurs in static tables only; a record has the space that contains its addresses."""

NO_ACCESS, LOAD, STORE, ATOMIC, TEXTURE_LOAD, READ_ONLY_LOAD, ORDERED_LOAD = range(7)
SPILL = -1
"""Kinds of memory instructions and transactions.  ATOMIC has a result; a reduction counts as a STORE.  READ_ONLY_LOAD
is a load from global memory through the read-only path (``ld.global.nc``), ORDERED_LOAD one that must see what other
SMs have written.  SPILL is a transaction of a design that stores a register.
"""

SPACE_SHIFT = 32
TRANSACTIONS_SHIFT = 40
HEADER_WORDS = 3
IRREGULAR = -(1 << 62)

LINE_BYTES = 128
SECTOR_BYTES = 32
ALL_SECTORS = 15


def is_load(kind: int) -> bool:
    """Whether a kind is a load, whatever its path."""
    return kind == LOAD or kind >= TEXTURE_LOAD


LOCAL_BASE = 1 << 56
"""Base of local memory in line addresses: above all global memory, which has 49 bits at most."""
DESIGN_BASE = 1 << 57
"""Base of the registers that designs send to memory: above all local memory."""
LINES_OF_SM = (1 << 20) + 1
"""Lines from those of an SM to those of the next one; an odd number spreads SMs over the slices."""
OWN_LINES = 1 << 14
"""Lines of the registers of 64 warp slots; those that a design numbers itself follow."""
