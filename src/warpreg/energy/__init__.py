"""Energy: counts of register accesses and a technology file in, picojoules out.

``account(counts, load("gebhart-40nm"))`` returns an :class:`EnergyReport`, ``normalized`` divides it by a baseline, and
``load(...).chip.saved`` converts the saving to chip power.
"""

from warpreg.energy.account import EnergyLine, EnergyReport, LevelEnergy, NormalizedEnergy, account, normalized
from warpreg.energy.array import ArraySpec
from warpreg.energy.chip import ChipPower, ChipSaving
from warpreg.energy.counts import Access, Move, Structure
from warpreg.energy.encoding import EncodingOverhead, encoding_overhead
from warpreg.energy.errors import EnergyError, TechnologyError
from warpreg.energy.residuals import Residual, residuals
from warpreg.energy.scaling import ArrayCost, OperatingPoint, rescale
from warpreg.energy.technology import Technology, load, names

__all__ = [
    "Access",
    "ArrayCost",
    "ArraySpec",
    "ChipPower",
    "ChipSaving",
    "EncodingOverhead",
    "EnergyError",
    "EnergyLine",
    "EnergyReport",
    "LevelEnergy",
    "Move",
    "NormalizedEnergy",
    "OperatingPoint",
    "Residual",
    "Structure",
    "Technology",
    "TechnologyError",
    "account",
    "encoding_overhead",
    "load",
    "names",
    "normalized",
    "rescale",
    "residuals",
]
