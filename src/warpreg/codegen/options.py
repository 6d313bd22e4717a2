"""Options of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from warpreg.codegen.machine.latency_model import Cycles
from warpreg.codegen.machine.targets import PLAIN, Target
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module

PTX, ALLOCATED_PTX, MACHINE = "ptx", "allocated-ptx", "machine"
LEVELS = (PTX, ALLOCATED_PTX, MACHINE)
"""PTX before and after register allocation, and machine code."""


class Assembler(Protocol):
    """Another compiler that makes the kernels of a module: a frozen dataclass, whose fields tell its results apart."""

    def kernel(self, module: Module, name: str) -> Kernel:
        """A kernel in architected registers."""


@dataclass(frozen=True)
class CompileOptions:
    """Compiler options."""

    max_registers: int | None = None
    """Limit of 32-bit registers per thread; by default, the machine's."""
    schedule: bool = True
    """Reorder instructions within blocks."""
    fuse_multiply_add: bool = True
    """Contract floating-point products and sums where PTX allows it."""
    predicate: bool = True
    """If-convert short branches."""
    target: Target = PLAIN
    """The target whose reserved registers count towards the demand."""
    expand_division: bool = True
    """Expand divisions and square roots to machine instructions."""
    level: str = MACHINE
    """``machine``; or ``ptx`` for unmodified PTX instructions with one register per virtual register; or
    ``allocated-ptx`` for PTX instructions that are scheduled and have registers of the machine.
    """
    banks: int = 0
    """Spread the operands of an instruction over this many register banks."""
    cycles: Cycles | None = None
    """Latency model to schedule for; by default, the target's."""
    address_bits: int = 64
    """32 computes addresses in single registers."""
    rotate: int = 0
    """Allocate the register that has been free longest, among those in use and the first ``rotate`` ones, instead of
    the lowest.
    """
    sink: bool = True
    """Move computations down to the blocks that read them."""
    rematerialize: bool = True
    """Recompute cheap values instead of keeping them live."""
    live_words: int | None = None
    """Words that may be live before these two act; by default, those of ``max_registers``.  They do not act without
    either limit.
    """
    assembler: Assembler | None = None
    """Makes the code in place of this compiler, whose other options then have no effect."""
