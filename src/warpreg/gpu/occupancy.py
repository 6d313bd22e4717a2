"""Occupancy: resident warps of an SM by the rule of NVIDIA's occupancy calculator, with the machine's granularities."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.gpu.machine import Machine
from warpreg.ir.errors import WarpregError


class OccupancyError(WarpregError):
    """An impossible block: a negative size or no threads."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Resident blocks and warps of one SM; ``limiter`` is the resource that prevents a further block.

    ``limiter`` is one of ``"block size"``, ``"registers per thread"``, ``"warps"``, ``"blocks"``, ``"registers"`` and
    ``"shared memory"``; on a tie the first of these is named.  ``blocks == 0`` means that the kernel cannot run here.
    """

    blocks: int
    warps: int
    limiter: str
    fraction: float


def occupancy(machine: Machine, registers: int, shared_bytes: int, block_threads: int) -> Occupancy:
    """Warps resident on one SM, for ``registers`` per thread, and ``shared_bytes`` and ``block_threads`` per block.

    Registers are allocated per warp in units of ``allocation_unit``, and the number of warps is rounded down to
    ``warp_granularity``; shared memory is rounded up to its unit.  Raises ``OccupancyError`` for sizes below zero.
    """
    if registers < 0 or shared_bytes < 0 or block_threads < 1:
        found = f"{registers}, {shared_bytes} and {block_threads}"
        raise OccupancyError(f"expected registers >= 0, shared bytes >= 0 and threads >= 1, found {found}")
    block_warps = -(-block_threads // machine.sm.threads_per_warp)
    no_limit = machine.sm.blocks + 1
    limits = {
        "block size": no_limit if block_threads <= machine.sm.threads_per_block else 0,
        "registers per thread": no_limit if registers <= machine.register_file.registers_per_thread else 0,
        "warps": machine.sm.warps // block_warps,
        "blocks": machine.sm.blocks,
        "registers": _warps_by_registers(machine, registers) // block_warps,
        "shared memory": _blocks_by_shared_memory(machine, shared_bytes),
    }
    limiter = min(limits, key=lambda name: limits[name])
    warps = limits[limiter] * block_warps
    return Occupancy(limits[limiter], warps, limiter, warps / machine.sm.warps)


def _warps_by_registers(machine: Machine, registers: int) -> int:
    file = machine.register_file
    if registers == 0:
        return machine.sm.warps
    units = -(-registers * machine.sm.threads_per_warp // file.allocation_unit)
    warps = file.registers // (units * file.allocation_unit)
    return warps - warps % file.warp_granularity


def _blocks_by_shared_memory(machine: Machine, shared_bytes: int) -> int:
    memory = machine.shared_memory
    if shared_bytes == 0:
        return machine.sm.blocks
    taken = -(-shared_bytes // memory.allocation_unit) * memory.allocation_unit
    return memory.bytes // taken
