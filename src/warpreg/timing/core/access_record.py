"""The record of one executed memory instruction of a warp, as words of 64 bits: what the load-store unit reads.

word 0   mask of active lanes | space << 32 | transactions << 40
word 1   base address: that of lane 0 if the lanes are affine, else of the first active lane
word 2   stride from lane to lane in bytes, or IRREGULAR
then, in global, local and texture space, ``transactions`` words of line address | sectors
"""

from __future__ import annotations

GLOBAL, SHARED, LOCAL, TEXTURE, CONSTANT, GENERIC = range(6)
"""State spaces.  GENERIC stands in static tables only: a record has the space that its addresses lie in."""

NO_ACCESS, LOAD, STORE, ATOMIC, TEXTURE_LOAD = range(5)
"""What an instruction does to memory, and kinds of transactions.  ATOMIC has a result; a reduction is a STORE to
whoever waits, see Sites.
"""

SPACE_SHIFT = 32
TRANSACTIONS_SHIFT = 40
HEADER_WORDS = 3
IRREGULAR = -(1 << 62)

LINE_BYTES = 128
SECTOR_BYTES = 32
ALL_SECTORS = 15

LOCAL_BASE = 1 << 56
"""Where local memory lies among the line addresses: after all global memory, which has 49 bits at most."""
