"""The state of the running warp in machine registers, which blocks and the driver's steps hand on by jumps.

All of them are functions with this signature.  None of them returns to another one: each ends with a jump, or returns
from the driver with a `Stop`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from warpreg.simt.block.native_records import Warp, record_of
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value

CONVENTION = "preserve_nonecc"
"""The calling convention of LLVM that passes most arguments in registers and preserves none."""


@dataclass(frozen=True, slots=True)
class RunningWarp:
    """The arguments: the launch record, the warp's registers, the lanes that run and the write position of the path;
    warp-instructions executed before the next block; the number of the warp, and `Slot.READY`.

    ``block`` is the block that ended, for which ``lanes`` hold the guard of the terminator, or the block to enter with
    ``lanes``; a block does not use them.  The rest of the warp's state is in its record.
    """

    launch: Value
    registers: Value
    mask: Value
    path: Value
    executed: Value
    lanes: Value
    block: Value
    warp: Value
    ready: Value

    @staticmethod
    def of(code: Code) -> RunningWarp:
        """The arguments of a function."""
        return RunningWarp(*code.arguments)

    @property
    def arguments(self) -> list[Value]:
        return [getattr(self, field.name) for field in fields(self)]

    @property
    def record(self) -> Value:
        """The address of the warp's record."""
        return record_of(self.registers)

    @property
    def reconvergence(self) -> Value:
        """The block at which the lanes reconverge."""
        return (self.record + Warp.RECONVERGENCE).load(I32)

    @property
    def alive(self) -> Value:
        """The lanes that have not exited."""
        return (self.record + Warp.ALIVE).load(I32)


TYPES = (I64, I64, I32, I64, I64, I32, I32, I64, I64)
SIGNATURE = ir.FunctionType(I32, TYPES, CONVENTION)


def function(module: Any, name: str) -> Code:
    """A function with this signature, to be filled."""
    return Code(module, name, I32, TYPES, CONVENTION)


def declared(module: Any, name: str) -> Any:
    """A function with this signature that may be defined later."""
    return module.globals.get(name) or ir.Function(module, SIGNATURE, name)
