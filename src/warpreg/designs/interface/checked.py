"""What verifies the decisions of a compile step by execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from warpreg.ir.kernel import Kernel

if TYPE_CHECKING:
    from warpreg.simt.block.tracked import Tracked


class WrongRead(Protocol):
    """A read that may not find its value; if ``certain``, it does not whenever its block is executed."""

    @property
    def pc(self) -> int: ...

    @property
    def certain(self) -> bool: ...


@dataclass(frozen=True)
class Checked:
    """A ``kernel`` with the same blocks in which the decisions are in effect, what its execution tracks, and the
    ``findings`` of a static analysis that shares no code with the compile step."""

    kernel: Kernel
    taints: Tracked
    findings: Callable[[], Sequence[WrongRead]]


class Corruption(Protocol):
    """A seeded error in what a compile step decided."""

    @property
    def kind(self) -> str: ...

    def checked(self) -> Checked:
        """What verifies the wrong version; verification has to fail."""
        ...
