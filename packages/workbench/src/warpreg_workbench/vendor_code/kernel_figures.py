"""Static figures of a kernel's registers, for any code: the vendor's or that of this compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log

from warpreg.analysis.liveness import liveness
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel

BANKS = (2, 4)


@dataclass(frozen=True, slots=True)
class KernelFigures:
    """``live_density``: mean over instructions of the live 32-bit registers, of those that the kernel names.
    ``sources``: registers that an instruction reads (a pair is two).  ``reused``: share of the register operands of
    arithmetic that the compiler keeps in the reuse cache.  ``conflicts``: by banks, cycles that the registers of an
    instruction wait for each other if each bank gives one a cycle, per instruction."""

    instructions: int
    registers: int
    demand: int
    live_density: float
    sources: float
    reused: float
    conflicts: dict[int, float]


def kernel_figures(kernel: Kernel) -> KernelFigures:
    """The figures of the static code, every instruction once."""
    instructions = [*kernel.instructions()]
    count = max(1, len(instructions))
    words = [sum(len(r.words) for r in one.used) for one in instructions]
    operands = sum(len([*operands_of(one)]) for one in instructions)
    kept = sum(len(one.reuse) for one in instructions)
    return KernelFigures(
        instructions=len(instructions),
        registers=kernel.register_count,
        demand=kernel.register_demand,
        live_density=_live(kernel) / count / max(1, kernel.register_count),
        sources=sum(words) / count,
        reused=kept / max(1, operands),
        conflicts={banks: sum(waits(one, banks) for one in instructions) / count for banks in BANKS},
    )


def operands_of(instruction: Instruction) -> Iterator[int]:
    """The first register of each source that names one of the register file."""
    for source in instruction.sources:
        found = [r for r in registers_of(source) if r.words]
        if found:
            yield found[0].words[0]


def waits(instruction: Instruction, banks: int) -> int:
    """Cycles beyond one in which the banks give the different registers that an instruction reads, those that the reuse
    cache may hold included: the bank of a register is its number modulo the banks."""
    read = {word for register in instruction.used for word in register.words}
    by_bank = [sum(word % banks == bank for word in read) for bank in range(banks)]
    return max(0, max(by_bank, default=0) - 1)


def _live(kernel: Kernel) -> int:
    """Live registers after each instruction, summed."""
    live = liveness(kernel)
    own = 0
    for cell, register in enumerate(live.accesses.cells.registers):
        own |= int(bool(register.words)) << cell
    return sum((after & own).bit_count() for b in kernel.blocks for _, _, after in live.backward(b.index))


def geometric_mean(values: list[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values)) if values else 0.0
