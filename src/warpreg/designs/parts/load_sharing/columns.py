"""Columns of the arrays that the parts of LARF share; few arrays make short calls out of line.

Per SM: ``physical`` [register, column], ``own`` [column], and ``hashed``, in which the counts of lines follow the
buckets.  Per warp: ``registers`` [register, column].
"""

from __future__ import annotations

NONE = -1
(
    REFERENCES,
    LANES,
    UNDER_WAY,
    WAITERS,
    BURDEN,
    FORMER,
    NEXT_FORMER,
    CHAIN,
    BASE,
    STRIDE,
    OLDER,
    YOUNGER,
) = range(12)
"""Of a physical register.  References to it.  Its entry of the address mapping table: lanes (0: no entry), address of
lane 0, stride, the entries before and after it in order of age, and the next one of its bucket.  Whether a load is
under way to it, the first link of those that wait for it, and what they ask of the cycle in which its data arrive.  A
node of the chains of superseded places, which is not its own: a place, and the next node.  What is used together comes
first, in a line of the host's caches.
"""
PHYSICAL_COLUMNS = 12
(
    OLDEST,
    YOUNGEST,
    COUNT,
    TAKEN,
    MAPPED,
    MOST,
    FREE_NODE,
    FREE_LINK,
    FREE_WAIT,
    LINKS_LEFT,
    SLOT_FREE,
    SAID_TAKEN,
    SAID_MAPPED,
    SAID_MOST,
    FULL_WORDS,
) = range(15)
"""Of an SM.  The oldest and the youngest entry, and how many there are.  Physical registers that are not free,
registers of warps that have one, the most that were taken.  The first free node, link and wait, and free links.  The
cycle from which the slot for merging is free.  What was last reported.  So many words of ``free`` at its start are 0,
or more.
"""
OWN_COLUMNS = 15
PLACE, PENDING, DYING, SUPERSEDED, ARRIVES = range(5)
"""Of a register of a warp.  Its physical register (NONE without a value); sources that have issued and are not read;
whether the value is dead once they are; the first node of former places that they still need; how the result of a load
under way is written (`warpreg.designs.parts.load_sharing.state`).
"""
REGISTER_COLUMNS = 5
