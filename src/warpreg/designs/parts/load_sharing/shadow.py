"""Shadow memory with versions: a value that is shared instead of loaded must be what memory holds (thesis §5.5.2).

Each stored word of memory has a version, the number of stores to it in the order of time; a word that was never stored
has version 0.  What a load brings carries the versions of its words into the place that keeps it, for example a
physical register.  When a later load is answered from there, its versions are compared with those of memory at that
moment.

Another version may be found only if another SM has stored it and nothing orders the two: an SM publishes all that it
has stored at a fence or an atomic, and observes at its own fences and atomics what has been published before (a rule
that orders more than the memory model does).  Such values are counted, as a GPU may return them too.

A state that uses it has these fields.  ``versioned``: else all this is off, and the arrays are of no use.  Kernel-wide:
``words`` [hash, column], ``faults`` [column].  Per SM: ``kept`` [place, lane], versions; ``orders``: the cycle of the
last publication, and from 1 on the cycle up to which each SM has been observed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.noinline import noinline
from warpreg.designs.interface import per_kernel, per_sm

FRESH, UNORDERED, ORDERED, OWN = range(4)
"""What a shared value is: the one in memory; an older one, where another SM has stored without order; an older one
although the store is ordered before; an older one although the SM itself has stored.  The last two are faults.
"""
WORD, VERSION, WRITER, WRITTEN = range(4)
"""Columns of ``words``: the address of a word plus 1 (0: a free row), its version, the SM that stored it last, when."""
KIND, WARP, PC, ADDRESS, FOLLOWED = range(5)
"""Columns of ``faults``: the first fault, and how many words are followed."""
WORDS = 1 << 20
"""Rows of ``words``, half of which stay free."""
MAX_SMS = 256
THREADS = 32
NEVER = -1


def shadow(versioned: bool, places: int) -> dict[str, Any]:
    """The fields for SMs that keep values in so many places each.  Without versions they take no room, and no array is
    one of the kernel, so that SMs need not be stepped cycle by cycle.
    """
    if not versioned:
        unused = {"words": per_sm(np.zeros(4, np.int64)), "faults": per_sm(np.int64(0))}
        return {"versioned": False, **unused, **_kept(1, 0)}
    shared = {"words": per_kernel(np.zeros((WORDS, 4), np.int64)), "faults": per_kernel(np.zeros(5, np.int64))}
    return {"versioned": True, **shared, **_kept(places, MAX_SMS)}


def _kept(places: int, sms: int) -> dict[str, NDArray[Any]]:
    return {
        "kept": per_sm(np.zeros((places, THREADS), np.int64)),
        "orders": per_sm(np.full(1 + sms, NEVER, np.int64)),
    }


@noinline
def store_words(state: Any, sm: int, addresses: NDArray[np.int64], lanes: int, size: int, cycle: int) -> int:
    """Lanes store so many bytes at their addresses; returns how many words there were more than `WORDS` can follow."""
    lost = 0
    for lane in range(THREADS):
        if lanes >> lane & 1:
            word = addresses[lane] & ~3
            while word < addresses[lane] + size:
                lost += not _store(state, sm, word, cycle)
                word += 4
    return lost


def _store(state: Any, sm: int, word: int, cycle: int) -> bool:
    row = _row(state, word)
    if state.words[row, WORD] == 0:
        if 2 * state.faults[FOLLOWED] >= WORDS:
            return False
        state.words[row, WORD] = word + 1
        state.faults[FOLLOWED] += 1
    state.words[row, VERSION] += 1
    state.words[row, WRITER] = sm
    state.words[row, WRITTEN] = cycle
    return True


@noinline
def keep_words(state: Any, sm: int, place: int, base: int, stride: int, lanes: int) -> None:
    """A load brings the words of these lanes, as they are now, into a place."""
    for lane in range(THREADS):
        if lanes >> lane & 1:
            state.kept[sm, place, lane] = _version(state, base + lane * stride)


@noinline
def compare_word(state: Any, sm: int, place: int, lane: int, address: int) -> int:
    """What a lane of a place is to a load of this address: FRESH, UNORDERED, ORDERED or OWN."""
    if state.kept[sm, place, lane] == _version(state, address):
        return FRESH
    row = _row(state, address)
    writer = state.words[row, WRITER]
    if writer == sm:
        return OWN
    return ORDERED if state.words[row, WRITTEN] <= state.orders[sm, 1 + writer] else UNORDERED


def note_fault(state: Any, kind: int, warp: int, pc: int, address: int) -> None:
    """Keep the first fault for the message."""
    if kind >= ORDERED and state.faults[KIND] == FRESH:
        state.faults[KIND] = kind
        state.faults[WARP] = warp
        state.faults[PC] = pc
        state.faults[ADDRESS] = address


def publish(state: Any, sm: int, cycle: int) -> None:
    """A fence or an atomic: what the SM has stored so far is ordered before what follows elsewhere."""
    state.orders[sm, 0] = cycle


@noinline
def observe(state: Any, sm: int) -> None:
    """A fence or an atomic: what others have published so far is ordered before what follows here."""
    for other in range(state.orders.shape[0]):
        if other != sm:
            state.orders[sm, 1 + other] = state.orders[other, 0]


def _version(state: Any, address: int) -> int:
    row = _row(state, address)
    return int(state.words[row, VERSION]) if state.words[row, WORD] else 0


def _row(state: Any, address: int) -> int:
    """The row of a word, or the free one that it would get; at least half of the rows are free."""
    row = (address >> 2 ^ address >> 14) & WORDS - 1
    while state.words[row, WORD] != 0 and state.words[row, WORD] != address + 1:
        row = row + 1 & WORDS - 1
    return row
