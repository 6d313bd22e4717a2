"""What lets a thread block fit an SM that has no room for it: fewer threads, registers or bytes of shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from warpreg.counting.capacity import RecordedLaunch, capacity_for, threads_of
from warpreg.designs.interface.residency import Launch as Shape
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregError


@dataclass(frozen=True, slots=True)
class Needs:
    """What a thread block takes of an SM."""

    threads: int
    registers: int
    shared_bytes: int

    def __str__(self) -> str:
        return f"{self.threads} threads of {self.registers} registers, {self.shared_bytes} bytes of shared memory"


def misfit(
    launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int | None, limiter: str
) -> str:
    """Why no thread block of a launch fits an SM, with the numbers, and what would let one fit."""
    demanded = launch.kernel.register_demand if registers is None else registers
    needs = Needs(threads_of(launch), demanded, launch.shared_bytes)
    found = what_fits(launch, machine, chosen, registers)
    return (
        f"kernel {launch.kernel.name}: a thread block does not fit an SM of {machine.name}: {limiter} ({needs})"
        f"{f'; it fits with {found}' if found else ''}"
    )


def what_fits(launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int | None = None) -> str:
    """How far one of threads, registers and shared memory must fall for a thread block to fit an SM under a design, the
    others staying: ``at most 768 threads per block or 40 registers per thread``.  If none is enough alone, how far
    several must; empty if nothing helps.  ``registers`` replaces the kernel's demand.
    """
    demanded = launch.kernel.register_demand if registers is None else registers
    needs = Needs(threads_of(launch), demanded, launch.shared_bytes)

    def fits(one: Needs) -> bool:
        try:
            shape = Shape(one.threads, one.shared_bytes)
            return capacity_for(launch, machine, chosen, one.registers, shape).blocks > 0
        except WarpregError:
            return False

    if alone := [_told(one, needs) for one in _each_alone(needs, machine, fits)]:
        return f"at most {' or '.join(alone)}"
    together = _together(needs, machine, fits)
    return f"at most {_told(together, needs)}" if together is not None else ""


def _each_alone(needs: Needs, machine: Machine, fits: Callable[[Needs], bool]) -> Iterator[Needs]:
    """The needs with the largest number of threads that fits, then of registers, then of bytes."""
    warp = machine.sm.threads_per_warp
    ranges: list[tuple[Callable[[int], Needs], int]] = [
        (lambda warps: replace(needs, threads=warps * warp), (needs.threads - 1) // warp),
        (lambda count: replace(needs, registers=count), needs.registers - 1),
        (lambda size: replace(needs, shared_bytes=size), needs.shared_bytes - 1),
    ]
    for made, most in ranges:
        if found := _largest(made, most, fits):
            yield made(found)


def _together(needs: Needs, machine: Machine, fits: Callable[[Needs], bool]) -> Needs | None:
    """The needs within the limits of the machine, then with as many registers as fit, else also with fewer threads."""
    within = Needs(
        min(needs.threads, machine.sm.threads_per_block),
        min(needs.registers, machine.register_file.registers_per_thread),
        min(needs.shared_bytes, machine.shared_memory.bytes),
    )
    if fits(within):
        return within
    for one in _each_alone(within, machine, fits):
        return one
    return None


def _largest(made: Callable[[int], Needs], most: int, fits: Callable[[Needs], bool]) -> int:
    """The largest number from 1 to ``most`` of which the needs fit, if those of all numbers below it do; 0 if none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(made(middle)) else (low, middle - 1)
    return low


def _told(reduced: Needs, needs: Needs) -> str:
    """What is less, in words."""
    words = [
        (reduced.threads, needs.threads, "threads per block"),
        (reduced.registers, needs.registers, "registers per thread"),
        (reduced.shared_bytes, needs.shared_bytes, "bytes of shared memory per block"),
    ]
    return " and ".join(f"{less} {what}" for less, most, what in words if less < most)
