"""Errors of a running kernel; messages name kernel, block, thread and instruction."""

from __future__ import annotations

from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Instruction


class LaunchError(WarpregError):
    """A launch that the kernel or the machine does not allow: wrong arguments, grid or block."""


class ExecutionError(WarpregError):
    """A run that ended before its kernel did."""


class MemoryFault(ExecutionError):
    """An access outside every buffer, or misaligned; ``address`` is the device address or the offset in its space."""

    def __init__(self, message: str, address: int) -> None:
        super().__init__(message)
        self.address = address


class TextureFault(ExecutionError):
    """A texture instruction with an invalid handle, or with one of another kind of object."""


class StackFault(MemoryFault):
    """A thread's stack overflowed: calls are nested too deeply, or ``alloca`` is too large."""


class TaintFault(ExecutionError):
    """An operand was read from a place that may not hold it."""


class TrapFault(ExecutionError):
    """The kernel executed ``trap`` or ``brkpt``."""


class AssertionFault(ExecutionError):
    """An assertion of the kernel failed."""


class DeadlockError(ExecutionError):
    """Every remaining warp waits at a barrier that can no longer complete."""


class RunawayError(ExecutionError):
    """The launch executed more warp-instructions than allowed."""


def place(
    kernel: str, block: tuple[int, int, int], thread: tuple[int, int, int] | None, instruction: Instruction
) -> str:
    """``kernel 'k', block (0,0,0), thread (5,0,0), instruction 'ld...' at k.ptx:12 (k.cu:7)``."""
    parts = [f"kernel '{kernel}'", f"block {triple(block)}"]
    if thread is not None:
        parts.append(f"thread {triple(thread)}")
    where = f" at {instruction.location}" if instruction.location else ""
    source = f" ({instruction.source})" if instruction.source else ""
    return ", ".join(parts) + f", instruction '{instruction}'{where}{source}"


def triple(numbers: tuple[int, int, int]) -> str:
    """``(1,2,3)``"""
    return f"({numbers[0]},{numbers[1]},{numbers[2]})"
