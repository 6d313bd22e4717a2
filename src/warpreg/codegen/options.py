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

    def code_hash(self, module: Module) -> str:
        """The SHA-256 of the code that it makes of a module."""


@dataclass(frozen=True)
class CompileOptions:
    """Compiler options.

    ``max_registers``: limit of 32-bit registers per thread, default the machine's; ``schedule``: reorder instructions
    within blocks; ``fuse_multiply_add``: contract floating-point products and sums where PTX allows it; ``predicate``:
    if-convert short branches; ``target``: the target whose reserved registers count towards the demand;
    ``expand_division``: expand divisions and square roots to machine instructions; ``level``: ``machine``, or ``ptx``
    for unmodified PTX instructions with one register per virtual register, or ``allocated-ptx`` for PTX instructions
    that are scheduled and have registers of the machine; ``banks``: spread the operands of an instruction over this
    many register banks; ``cycles``: latency model to schedule for, default the target's;
    ``address_bits``: 32 computes addresses in single registers; ``rotate``: allocate the register that has been free
    longest, among those in use and the first ``rotate`` ones, instead of the lowest; ``sink``: move computations down
    to the blocks that read them; ``rematerialize``: recompute cheap values instead of keeping them live;
    ``live_words``: words that may be live before these two act, default those of ``max_registers``; they do not act
    without either limit.  ``assembler`` makes the code in place of this compiler, whose other options have no effect.
    """

    max_registers: int | None = None
    schedule: bool = True
    fuse_multiply_add: bool = True
    predicate: bool = True
    target: Target = PLAIN
    expand_division: bool = True
    level: str = MACHINE
    banks: int = 0
    cycles: Cycles | None = None
    address_bits: int = 64
    rotate: int = 0
    sink: bool = True
    rematerialize: bool = True
    live_words: int | None = None
    assembler: Assembler | None = None
