"""Thread blocks of a recorded run that is timed more than once, such as under several designs, kept in memory.

Those of a run that is timed once are not kept, and what is kept is bounded: what has been asked for twice replaces what
has not been asked for in between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from warpreg.gpu.machine import SharedMemory
from warpreg.ir.kernel import Kernel
from warpreg.timing.feed.feed import ALL_BLOCKS, ThreadBlocks, feed
from warpreg.trace.file import Trace

KEPT_BYTES = 128 << 20
"""What is kept of all runs together.  Chosen, not measured."""

Options = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """How a recorded run becomes thread blocks: for so many ``banks`` of shared memory, up to thread block ``end``,
    with or without the addresses of ``lanes`` that are not affine.  ``pairs``: parts of a warp pass in pairs.
    """

    banks: int
    end: int = ALL_BLOCKS
    lanes: bool = False
    pairs: bool = False

    @classmethod
    def of(cls, shared: SharedMemory, end: int, lanes: bool) -> SplitOptions:
        """Those of a machine's shared memory."""
        return cls(shared.banks, end, lanes, bool(shared.pairs_parts))


@dataclass(eq=False)
class _Entry:
    """The thread blocks of a run of ``kernel``, of so many ``bytes``; None if they are not kept.  ``asked``: number of
    the last request for them.
    """

    kernel: Kernel
    asked: int
    batches: list[ThreadBlocks] | None = None
    bytes: int = 0

    def give_up(self) -> None:
        self.batches, self.bytes = None, 0


_kept: WeakKeyDictionary[Trace, dict[Options, _Entry]] = WeakKeyDictionary()
_requests = itertools.count()


def thread_blocks(run: Any, kernel: Kernel, split: SplitOptions) -> Iterator[ThreadBlocks]:
    """The thread blocks of a recorded run, from `feed` or from memory."""

    def make() -> Iterator[ThreadBlocks]:
        return feed(run, kernel, banks=split.banks, end=split.end, lanes=split.lanes, pairs=split.pairs)

    return kept(run, kernel, (split,), make)


def kept(
    run: Any, kernel: Kernel, options: Options, make: Callable[[], Iterator[ThreadBlocks]]
) -> Iterator[ThreadBlocks]:
    """``make()``, or the same thread blocks from memory; what they are depends on the other arguments."""
    if not isinstance(run, Trace):
        return make()
    of_run = _kept.setdefault(run, {})
    entry = of_run.get(options)
    if entry is None or entry.kernel is not kernel:
        of_run[options] = _Entry(kernel, next(_requests))
        return make()
    before, entry.asked = entry.asked, next(_requests)
    if entry.batches is not None:
        return iter(entry.batches)
    return _keeping(entry, before, make())


def _keeping(own: _Entry, before: int, batches: Iterator[ThreadBlocks]) -> Iterator[ThreadBlocks]:
    """The batches, which are kept once all of them are there, if there is room; they were asked for ``before``."""
    cached: list[ThreadBlocks] = []
    size, is_room = 0, True
    for batch in batches:
        size += _size(batch)
        is_room = is_room and _make_room(size, before)
        if is_room:
            cached.append(batch)
        else:
            cached.clear()
        yield batch
    if is_room:
        own.batches, own.bytes = cached, size


def _make_room(size: int, before: int) -> bool:
    """Whether there is room for so many bytes, if need be in place of what was not asked for since request ``before``,
    the oldest first.
    """
    every = [one for of_run in _kept.values() for one in of_run.values() if one.batches is not None]
    room = KEPT_BYTES - sum(one.bytes for one in every)
    for one in sorted(every, key=lambda one: one.asked):
        if room >= size or one.asked > before:
            break
        room += one.bytes
        one.give_up()
    return room >= size


def _size(batch: ThreadBlocks) -> int:
    values = (getattr(batch, one.name) for one in fields(batch))
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))
