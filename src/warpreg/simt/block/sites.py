"""The memory instructions, traps and native operations of a kernel, numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


class NativeOperation(Protocol):
    """A function in its own LLVM module that kernels call: hashable, and identified by its name."""

    @property
    def name(self) -> str:
        """The name of the function."""
        ...

    def module(self) -> str:
        """LLVM IR that defines the function."""
        ...


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest byte offset of accesses that share an address, and how far apart lanes are likely to
    be: None where that is not known."""

    low: int
    high: int
    stride: int | None = None


@dataclass
class Sites:
    """Memory instructions, traps and native operations of a kernel, numbered in order of appearance; accesses at pcs in
    ``inline`` have a fast path inside the block, and lanes of those in ``scattered`` are likely to be neither in a row
    nor at one address; ``skip_idle``: skip one with a guard if no lane needs it."""

    record: bool
    inline: Mapping[int, Span] = field(default_factory=dict)
    scattered: frozenset[int] = frozenset()
    skip_idle: bool = False
    sites: list[tuple[int, bool]] = field(default_factory=list)
    operations: dict[NativeOperation, int] = field(default_factory=dict)
    _numbers: dict[int, list[int]] = field(default_factory=dict)
    _asked: Counter[int] = field(default_factory=Counter)

    def site(self, pc: int, guarded: bool) -> int:
        """The number of the instruction at ``pc``, another one at each call, but the same in all versions."""
        numbers, place = self._numbers.setdefault(pc, []), self._asked[pc]
        self._asked[pc] += 1
        if place == len(numbers):
            self.sites.append((pc, guarded))
            numbers.append(len(self.sites) - 1)
        return numbers[place]

    @contextmanager
    def another_version(self, pcs: range) -> Iterator[None]:
        """Add the instructions at ``pcs`` once more."""
        before = self._asked.copy()
        for pc in pcs:
            del self._asked[pc]
        yield
        self._asked = before

    def operation(self, operation: NativeOperation) -> int:
        """The number of a native operation in the launch's table."""
        return self.operations.setdefault(operation, len(self.operations))
