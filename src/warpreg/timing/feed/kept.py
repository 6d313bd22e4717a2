"""Thread blocks of a recorded run that is timed more than once, such as under several designs, kept in memory.

Those of a run that is timed once are not kept, and what is kept is bounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from warpreg.ir.kernel import Kernel
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.trace.file import Trace

KEPT_BYTES = 128 << 20
"""What is kept of all runs together.  Chosen, not measured."""

Options = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class _Kept:
    """The thread blocks of a run of ``kernel``; None if they have been asked for once."""

    kernel: Kernel
    batches: list[ThreadBlocks] | None


_kept: WeakKeyDictionary[Trace, dict[Options, _Kept]] = WeakKeyDictionary()


def kept(
    run: Any, kernel: Kernel, options: Options, make: Callable[[], Iterator[ThreadBlocks]]
) -> Iterator[ThreadBlocks]:
    """``make()``, or the same thread blocks from memory; what they are depends on the other arguments."""
    if not isinstance(run, Trace):
        return make()
    of_run = _kept.setdefault(run, {})
    found = of_run.get(options)
    if found is None or found.kernel is not kernel:
        of_run[options] = _Kept(kernel, None)
        return make()
    if found.batches is not None:
        return iter(found.batches)
    return _keeping(of_run, options, kernel, make())


def _keeping(
    of_run: dict[Options, _Kept], options: Options, kernel: Kernel, batches: Iterator[ThreadBlocks]
) -> Iterator[ThreadBlocks]:
    """The batches, which are kept once all of them are there, if there is room."""
    room = KEPT_BYTES - sum(map(_size, _all_kept()))
    found: list[ThreadBlocks] = []
    for batch in batches:
        room -= _size(batch)
        if room < 0:
            found.clear()
        else:
            found.append(batch)
        yield batch
    if room >= 0:
        of_run[options] = _Kept(kernel, found)


def _all_kept() -> Iterator[ThreadBlocks]:
    every = (one.batches or () for of_run in _kept.values() for one in of_run.values())
    return itertools.chain.from_iterable(every)


def _size(batch: ThreadBlocks) -> int:
    values = (getattr(batch, one.name) for one in fields(batch))
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))
