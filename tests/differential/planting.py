"""Insert one bug at a time into the executor or the compiler, and remove it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from warpreg.ir.opcodes import OPCODES, Opcode
from warpreg.simt.llvm import object_code

NATIVE: set[Callable[[Garden], None]] = set()
"""Bugs of code that all kernels share."""


class Garden:
    """Changes attributes and remembers what they were; rows of the semantics table are frozen, so they are forced."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute of a module, a class or a row."""
        self._before.append(
            (owner, name, getattr(owner, name) if not isinstance(owner, type) else owner.__dict__[name])
        )
        if isinstance(owner, Opcode):
            object.__setattr__(owner, name, value)
        else:
            setattr(owner, name, value)

    def meaning(self, opcode: str, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Change the meaning of all rows of a base opcode."""
        for row in OPCODES:
            if row.name == opcode and row.meaning is not None:
                self.set(row, "meaning", change(row.meaning))

    def update(self, operation: str, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Change what an atomic operation (``max``) makes of the old value."""
        for row in OPCODES:
            if row.update is not None and f".{operation}." in row.syntax:
                self.set(row, "update", change(row.update))

    def restore(self) -> None:
        for owner, name, value in reversed(self._before):
            if isinstance(owner, Opcode):
                object.__setattr__(owner, name, value)
            else:
                setattr(owner, name, value)


@contextmanager
def planted(plant: Callable[[Garden], None]) -> Iterator[None]:
    """The bug is there inside; the driver and the memory operations are compiled anew, outside every cache."""
    garden = Garden()
    libraries: dict[str, object_code.Library] = {}

    def library(name: str, text: Callable[[], str]) -> object_code.Library:
        if name not in libraries:
            libraries[name] = object_code.Library(object_code.object_code(text(), optimize=True))
        return libraries[name]

    try:
        plant(garden)
        if plant in NATIVE:
            garden.set(object_code, "cached_library", library)
        yield
    finally:
        garden.restore()


def in_native_code(plant: Callable[[Garden], None]) -> Callable[[Garden], None]:
    """Marks a bug of the driver or of a memory operation, which are shared by all kernels and cached."""
    NATIVE.add(plant)
    return plant
