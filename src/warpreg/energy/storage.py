"""The storage of a level on one SM of a machine: its size, its leakage and its area."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy.array import ArraySpec
from warpreg.energy.cost import describes_itself, level_of, words_of
from warpreg.energy.counts import WARP_REGISTER_BITS, Structure
from warpreg.energy.technology import Technology
from warpreg.gpu.machine import Machine

MRF = "MRF"
UM2_PER_MM2 = 1e6


@dataclass(frozen=True, slots=True)
class Storage:
    """``registers``: warp-registers that an SM has of a structure; leakage in mW and area in mm^2 of all of them."""

    registers: float
    leakage_mw: float
    area_mm2: float

    @property
    def bytes(self) -> float:
        """Capacity."""
        return self.registers * WARP_REGISTER_BITS / 8


def storage(technology: Technology, structure: Structure, machine: Machine) -> Storage:
    """The storage of one SM.  Raises like :func:`warpreg.energy.cost.access_cost` for a level without a price.

    A structure with ``registers`` has so many.  Else the MRF is the register file of the machine.  Another level has
    the words of its bank, in as many banks side by side as a warp-register takes, once for each owner (``per``).
    """
    if structure.is_empty:
        return Storage(0.0, 0.0, 0.0)
    spec, registers = _bank(technology, structure)
    if structure.registers is not None:
        registers = float(structure.registers)
    elif structure.level == MRF and structure.array is None:
        registers = machine.warp_registers
    else:
        registers *= copies(structure.per, machine)
    cost = technology.arrays.cost(spec)
    banks = registers * WARP_REGISTER_BITS / spec.bits
    return Storage(registers, cost.leakage_mw * banks, cost.area_um2 * banks / UM2_PER_MM2)


def copies(per: str, machine: Machine) -> float:
    """How many an SM has of what belongs to the chip (a share), an SM, a scheduler or a warp slot."""
    return {
        "chip": 1 / machine.chip.sms,
        "SM": 1.0,
        "scheduler": float(machine.schedulers.count),
        "warp": float(machine.sm.warps),
    }[per]


def _bank(technology: Technology, structure: Structure) -> tuple[ArraySpec, float]:
    """The array behind a structure, and the warp-registers of one copy."""
    if structure.array is not None and describes_itself(technology, structure):
        side_by_side = max(1.0, structure.array.banks * structure.array.word_bits / WARP_REGISTER_BITS)
        return structure.array, structure.array.words * side_by_side
    level = level_of(technology, structure)
    words = words_of(level, structure)
    return level.spec(words), float(words)
