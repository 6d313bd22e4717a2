"""The memory instructions, traps and native operations of a kernel, numbered."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The least and the greatest byte offset of accesses that share an address."""

    low: int
    high: int


@dataclass
class Sites:
    """Memory instructions, traps and native operations of a kernel, numbered in order of appearance; accesses at pcs in
    ``inline`` have a fast path inside the block; ``skip_idle``: skip one with a guard if no lane needs it."""

    record: bool
    inline: Mapping[int, Span] = field(default_factory=dict)
    skip_idle: bool = False
    sites: list[tuple[int, bool]] = field(default_factory=list)
    operations: dict[NativeOperation, int] = field(default_factory=dict)

    def site(self, pc: int, guarded: bool) -> int:
        """The number of the instruction at ``pc``."""
        self.sites.append((pc, guarded))
        return len(self.sites) - 1

    def operation(self, operation: NativeOperation) -> int:
        """The number of a native operation in the launch's table."""
        return self.operations.setdefault(operation, len(self.operations))
