"""What a timing run reads of the recorded addresses of a launch, as one hash.

Launches of a run with the same path and the same digest take the same cycles where memory keeps nothing between them.
If nothing looks at addresses, as in the memory model `fixed`, they are left out: only spaces, lanes, transactions and
sectors count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import Recipe
from warpreg.ir.kernel import Kernel
from warpreg.timing.core import access_record as record
from warpreg.timing.feed.kept import SplitOptions, thread_blocks
from warpreg.trace.file import Trace

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Read:
    """What is read: thread blocks ``split`` in this way, with or without their ``addresses`` and the ``widths`` of
    values.
    """

    split: SplitOptions
    addresses: bool
    widths: bool


_digests: WeakKeyDictionary[Trace, dict[Read, str]] = WeakKeyDictionary()


def digest(trace: Trace, kernel: Kernel, read: Read) -> str:
    """SHA-256 of the access records of the kernel's recorded launch, computed once; of its widths, too, if they are
    read.

    Raises TimingError if the recording does not match ``kernel``.
    """
    of_trace = _digests.setdefault(trace, {})
    if read not in of_trace:
        of_trace[read] = _computed(trace, kernel, read)
    return of_trace[read]


def _computed(trace: Trace, kernel: Kernel, read: Read) -> str:
    hasher = hashlib.sha256()
    for batch in thread_blocks(trace, kernel, read.split):
        words = batch.accesses
        if not read.addresses:
            words = words.copy()
            Recipe(leave_out_addresses).build((words,))(words)
        hasher.update(np.ascontiguousarray(words).data)
        hasher.update(np.ascontiguousarray(batch.access_start).data)
    if read.widths:
        for chunk in trace.width_chunks():
            hasher.update(np.ascontiguousarray(chunk).data)
    return hasher.hexdigest()


def leave_out_addresses(words: Words) -> int:
    """Clear base, stride and lines of access records without lanes, but not the sectors; in the numba subset of Python.
    Returns the number of records.
    """
    at, records = 0, 0
    while at < words.size:
        head = words[at]
        words[at + 1] = 0
        words[at + 2] = 0
        at += record.HEADER_WORDS
        space = head >> record.SPACE_SHIFT & 255
        if space != record.SHARED and space != record.CONSTANT:
            for _ in range(head >> record.TRANSACTIONS_SHIFT):
                words[at] &= record.ALL_SECTORS
                at += 1
        records += 1
    return records
