"""Shadow memory with versions: a value that is shared instead of loaded must be what memory holds (thesis §5.5.2).

Each stored word of memory has a version, the number of stores to it in the order of time; a word that was never stored
has version 0.  What a load brings carries the versions of its words into the place that keeps it, for example a
physical register.  When a later load is answered from there, its versions are compared with those of memory at that
moment.

Another version may be found only if another SM has stored it and nothing orders the two: an SM publishes all that it
has stored at a fence or an atomic, and observes at its own fences and atomics what has been published before (a rule
that orders more than the memory model does).  Such values are counted, as a GPU may return them too.

A state that uses it has these fields.  ``versioned``: else all this is off, and the arrays are of no use.  Kernel-wide:
``word``, ``version``, ``writer`` and ``written`` [hash], the address of a word plus 1, its version, the SM that stored
it last and when; ``words`` [1], how many there are; ``fault`` [FAULT_*], the first fault.  Per SM: ``kept`` [place,
lane], versions; ``published``, a cycle; ``observed`` [SM], the cycle up to which it has observed each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import per_sm
from warpreg.jit.noinline import noinline

FRESH, UNORDERED, ORDERED, OWN = range(4)
"""What a shared value is: the one in memory; an older one, where another SM has stored without order; an older one
although the store is ordered before; an older one although the SM itself has stored.  The last two are faults.
"""
FAULT_KIND, FAULT_WARP, FAULT_PC, FAULT_ADDRESS = range(4)
WORDS = 1 << 20
"""Words that a run may store with versions."""
MOST_SMS = 256
LANES = 32
NEVER = -1


def shadow(versioned: bool, places: int) -> dict[str, Any]:
    """The fields of an SM that keeps values in so many places.  Without versions they take no room, and hooks share no
    array, so that the SMs need not run in step.
    """
    names = ("word", "version", "writer", "written", "words", "fault")
    if not versioned:
        unused: dict[str, NDArray[Any]] = {name: per_sm(np.int64(0)) for name in names}
        kept = per_sm(np.zeros((1, LANES), np.int64))
        return {"versioned": False, **unused, "kept": kept, **_orders(1)}
    hashed = {name: np.zeros(WORDS, np.int64) for name in names[:4]}
    kept = per_sm(np.zeros((places, LANES), np.int64))
    return {
        "versioned": True,
        **hashed,
        "words": np.zeros(1, np.int64),
        "fault": np.zeros(4, np.int64),
        "kept": kept,
        **_orders(MOST_SMS),
    }


def _orders(sms: int) -> dict[str, NDArray[Any]]:
    return {"published": per_sm(np.int64(NEVER)), "observed": per_sm(np.full(sms, NEVER, np.int64))}


@noinline
def store_word(state: Any, sm: int, address: int, size: int, cycle: int) -> bool:
    """A lane stores so many bytes; returns False if there are more words than `WORDS` can follow."""
    followed = True
    word = address & ~3
    while word < address + size:
        row = _row(state, word)
        if state.word[row] == 0:
            if 2 * state.words[0] >= WORDS:
                followed = False
                word += 4
                continue
            state.word[row] = word + 1
            state.words[0] += 1
        state.version[row] += 1
        state.writer[row] = sm
        state.written[row] = cycle
        word += 4
    return followed


@noinline
def keep_word(state: Any, sm: int, place: int, lane: int, address: int) -> None:
    """A load brings the word at an address, as it is now, into a lane of a place."""
    state.kept[sm, place, lane] = _version(state, address)


@noinline
def compare_word(state: Any, sm: int, place: int, lane: int, address: int) -> int:
    """What a lane of a place is to a load of this address: FRESH, UNORDERED, ORDERED or OWN."""
    if state.kept[sm, place, lane] == _version(state, address):
        return FRESH
    row = _row(state, address)
    writer = state.writer[row]
    if writer == sm:
        return OWN
    return ORDERED if state.written[row] <= state.observed[sm, writer] else UNORDERED


def note_fault(state: Any, kind: int, warp: int, pc: int, address: int) -> None:
    """Keep the first fault for the message."""
    if kind >= ORDERED and state.fault[FAULT_KIND] == FRESH:
        state.fault[FAULT_KIND] = kind
        state.fault[FAULT_WARP] = warp
        state.fault[FAULT_PC] = pc
        state.fault[FAULT_ADDRESS] = address


def publish(state: Any, sm: int, cycle: int) -> None:
    """A fence or an atomic: what the SM has stored so far is ordered before what follows elsewhere."""
    state.published[sm] = cycle


@noinline
def observe(state: Any, sm: int) -> None:
    """A fence or an atomic: what others have published so far is ordered before what follows here."""
    for other in range(state.published.size):
        if other != sm:
            state.observed[sm, other] = state.published[other]


def _version(state: Any, address: int) -> int:
    row = _row(state, address)
    return int(state.version[row]) if state.word[row] else 0


def _row(state: Any, address: int) -> int:
    """The row of a word, or the free one that it would get; at least half of the rows are free."""
    row = (address >> 2 ^ address >> 14) & WORDS - 1
    while state.word[row] != 0 and state.word[row] != address + 1:
        row = row + 1 & WORDS - 1
    return row
