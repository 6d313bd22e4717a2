"""What the parameters of a design make of a kernel: the size of its extended set, and its code."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Launch, Program, parameter
from warpreg.designs.interface.residency import Residency, Room, room
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.designs.parts.sharing.division import Division, divided
from warpreg.designs.parts.sharing.sizes import (
    DOWN,
    EXAMPLE,
    NEAREST,
    WORDING,
    Size,
    candidates,
    chosen,
    rounded,
    sized,
)
from warpreg.designs.parts.sharing.states import DivisionError
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

BY_RULE = -1


@dataclass(frozen=True)
class Options:
    """The parameters that decide about the extended set, and where it is."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    extended: int = parameter(
        BY_RULE,
        unit="registers",
        low=BY_RULE,
        high=128,
        source="regmutex §4.3.1: -1, by the rule; §4.4.4 sets 2 to 12; 0: none",
    )
    tie: str = parameter(
        EXAMPLE,
        choices=(EXAMPLE, WORDING),
        source="regmutex §4.3.1: of candidates of equal occupancy, as in its example, or as it is worded",
    )
    rounding: str = parameter(
        NEAREST,
        choices=(NEAREST, DOWN),
        source="regmutex §4.3.1: lost in the text; nearest even number: fits all rows of Table 4.1; down, without"
        " odd ones, fits twelve",
    )
    gap: int = parameter(
        0,
        unit="instructions",
        low=0,
        high=64,
        source="regmutex §4.3: released immediately after each segment; above 0, sections are kept over shorter gaps",
    )
    split_mapping: bool = parameter(
        True, source="regmutex §4.3.2, Figure 4.6: the bank of a physical register; off: that of the machine's mapping"
    )


def size_of(parameters: Options, program: Program, machine: Machine, launch: Launch, analysis: Analysis) -> Size | None:
    """The division of a launch's kernel; None for a kernel without an extended set.

    Raises DesignError with kernel, value and bound if a size that is given does not work.
    """
    kernel, registers = analysis.kernel, program.register_count
    if not parameters.enabled or parameters.extended == 0:
        return None
    named = program_table(kernel).register_count
    if named > rounded(registers):
        raise DesignError(f"kernel {kernel.name}: the code names {named} registers, and a thread has {registers}")
    if parameters.extended != BY_RULE:
        return _given(parameters, registers, machine, launch, kernel)

    def compiles(size: Size) -> bool:
        try:
            divided(kernel, size.base, size.base + size.extended, parameters.gap)
        except DivisionError:
            return False
        return True

    return chosen(machine, launch, registers, compiles, parameters.tie, parameters.rounding)


def _given(parameters: Options, registers: int, machine: Machine, launch: Launch, kernel: Kernel) -> Size:
    """The size that a parameter sets."""
    total = rounded(registers)
    if parameters.extended >= total:
        raise DesignError(
            f"kernel {kernel.name}: extended expects fewer than the {total} registers of a thread, found "
            f"{parameters.extended}"
        )
    divided(kernel, total - parameters.extended, total, parameters.gap)
    size = sized(machine, launch, registers, parameters.extended)
    if size is None:
        base = total - parameters.extended
        alone = room(machine, Residency(base), launch, registers)
        left = machine.warp_registers - base * -(-launch.block_threads // machine.sm.threads_per_warp)
        if alone.blocks:
            raise DesignError(
                f"kernel {kernel.name}: a section has {parameters.extended} registers, and beside one thread block the "
                f"pool of {machine.name} has room for {left}"
            )
        raise DesignError(
            f"kernel {kernel.name}: no thread block of base sets of {base} registers fits an SM of {machine.name} "
            f"({alone.limiter})"
        )
    return size


def code_of(parameters: Options, kernel: Kernel, place: Room | None, extended: int) -> Kernel:
    """The compiled kernel; the kernel itself without an extended set.

    By the residency of ``place``, a section has ``extended`` registers.  Without a machine, for example in a replay,
    the code is that of `division_to_check`.
    """
    if not parameters.enabled or parameters.extended == 0:
        return kernel
    if place is None:
        return division_to_check(parameters, kernel).kernel
    base = place.residency.registers
    return divided(kernel, base, base + extended, parameters.gap).kernel if extended else kernel


def base_of(program: Program, place: Room | None, extended: int) -> int:
    """Registers of the base set; all where no section is held, or where no time passes that it could be held for."""
    return place.residency.registers if place is not None and extended else program.register_count


def division_to_check(parameters: Options, kernel: Kernel) -> Division:
    """The code without a machine: with the largest candidate that compiles if sizes follow the rule.

    Raises DivisionError for a size that is given and does not work.
    """
    total = rounded(kernel.register_demand or kernel.register_count)
    if not parameters.enabled or parameters.extended == 0:
        return divided(kernel, total, total)
    if parameters.extended != BY_RULE:
        return divided(kernel, total - parameters.extended, total, parameters.gap)
    for extended in reversed(candidates(total, parameters.rounding)):
        try:
            return divided(kernel, total - extended, total, parameters.gap)
        except DivisionError:
            continue
    return divided(kernel, total, total)
