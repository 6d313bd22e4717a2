"""Enough thread blocks of a kernel: those of its largest launch, then of its other launches, then all of them again.

Occupancy is a property of an SM that is full.  A launch of a dozen thread blocks fills one SM once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel
from warpreg.simt import Launch
from warpreg.trace import Trace
from warpreg.trace.path import PathWord

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class RepeatedLaunch:
    """Launches of one kernel in sequence as one launch; its thread blocks are numbered through."""

    launches: Sequence[Launch]
    trace: Any = field(init=False)

    def __post_init__(self) -> None:
        traces = [one.trace for one in self.launches if one.trace is not None]
        object.__setattr__(self, "trace", JoinedTrace(traces))

    @property
    def kernel(self) -> Kernel:
        return self.launches[0].kernel

    @property
    def grid(self) -> tuple[int, int, int]:
        return sum(math.prod(one.grid) for one in self.launches), 1, 1

    @property
    def block(self) -> tuple[int, int, int]:
        return self.launches[0].block

    @property
    def shared_bytes(self) -> int:
        return self.launches[0].shared_bytes

    @property
    def warp_instructions(self) -> int:
        return sum(one.warp_instructions for one in self.launches)


@dataclass(frozen=True)
class JoinedTrace:
    """The traces of launches as one."""

    traces: Sequence[Trace]

    @property
    def header(self) -> dict[str, Any]:
        """That of the first launch: the dimensions of a thread block."""
        found: dict[str, Any] = self.traces[0].header
        return found

    def path_chunks(self) -> Iterator[Words]:
        """The paths, with numbers of thread blocks that go on."""
        blocks = 0
        for trace in self.traces:
            for chunk in trace.path_chunks():
                words, blocks = renumbered(chunk, blocks)
                yield words

    def address_chunks(self) -> Iterator[Words]:
        """The addresses."""
        for trace in self.traces:
            yield from trace.address_chunks()


def enough(launches: Sequence[Launch], blocks: int) -> Launch | RepeatedLaunch:
    """At least so many thread blocks of a kernel's launches."""
    largest = max(launches, key=lambda one: int(one.warp_instructions))
    if math.prod(largest.grid) >= blocks:
        return largest
    taken, found = [], 0
    for one in itertools.cycle([largest, *(launch for launch in launches if launch is not largest)]):
        taken.append(one)
        found += math.prod(one.grid)
        if found >= blocks:
            break
    return RepeatedLaunch(taken)


def renumbered(chunk: Words, first: int) -> tuple[Words, int]:
    """A chunk of a path whose thread blocks are numbered from ``first`` on, and the number of the next one."""
    words = np.array(chunk, np.uint32)
    place = 0
    for kind, second in _records(words.tolist()):
        if kind == PathWord.THREAD_BLOCK:
            words[place + 1] = first
            first += 1
        place += 2 if second else 1
    return words, first


def _records(words: list[int]) -> Iterator[tuple[int, bool]]:
    """Kind of each record, and whether it has a second word."""
    place = 0
    while place < len(words):
        kind = words[place] & 3
        second = kind in (PathWord.VISIT_MASK, PathWord.THREAD_BLOCK)
        yield kind, second
        place += 2 if second else 1
