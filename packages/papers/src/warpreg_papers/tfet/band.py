"""How far derived energies may be off: the two ends between which the inputs of the technology lie.

Energy and leakage of CMOS registers come from one source of two: Table 3.4 of the thesis of 2021 (bow), which the
technology takes, and its Table 2.2 (corf), at the node and for the size of the register file.  TFET registers leak 700
times less than CMOS registers at their supply, or not at all, or as much as those.  `LOW` is the end at which TFET
registers save most, `HIGH` the one at which they save least.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from warpreg import energy
from warpreg.energy import Technology
from warpreg.energy.array import ArrayKind, ArrayModel, SramModel
from warpreg.energy.scaling import OperatingPoint
from warpreg.energy.sections import Check, Level
from warpreg_papers.tfet.designs import TECHNOLOGY, VECTORS

CORF = "corf-register-file"
"""The point of the technology file that is the other source."""
LESS_LEAKAGE = 700
"""CMOS cells at 0.3 V leak so many times as much as TFET cells (Singh et al., ASP-DAC 2010)."""


@dataclass(frozen=True, slots=True)
class End:
    """One end: factors of the energies and leakages of the technology."""

    energy: float
    cmos_leakage: float
    tfet_leakage: float

    def technology(self) -> Technology:
        """The technology with these factors."""
        known = energy.load(TECHNOLOGY)
        leakage = {"sram": self.cmos_leakage, "tfet": self.tfet_leakage}
        kinds = {name: self._kind(kind, leakage[name]) for name, kind in known.arrays.kinds.items()}
        levels = {name: self._level(level) for name, level in known.levels.items()}
        return dataclasses.replace(known, levels=levels, arrays=ArrayModel(kinds, known.arrays.node))

    def _level(self, level: Level) -> Level:
        read, write = (tuple(pj * self.energy for pj in of) for of in (level.read, level.write))
        return dataclasses.replace(level, read=read, write=write)

    def _kind(self, kind: ArrayKind, leakage: float) -> ArrayKind:
        model = kind.model
        assert isinstance(model, SramModel)
        changed = dataclasses.replace(
            model,
            read_pj=model.read_pj * self.energy,
            write_pj=model.write_pj * self.energy,
            leakage_nw_per_bit=model.leakage_nw_per_bit * leakage,
        )
        return ArrayKind(changed, kind.voltage)


def other_source() -> tuple[float, float]:
    """Energy and leakage of the register file by Table 2.2, divided by those of the technology, at its node and
    supply.
    """
    known = energy.load(TECHNOLOGY)
    point: Check = known.checks[CORF]
    there, here = OperatingPoint(point.node, point.voltage), known.point
    length, supply = here.node / there.node, here.voltage / there.voltage
    assert point.read is not None
    assert point.leakage is not None
    read = point.read * length * supply**2 * math.sqrt(VECTORS / point.words)
    leakage = point.leakage * length * supply * VECTORS / point.words
    file = known.arrays.cost(known.levels["MRF"].spec(VECTORS))
    return read / file.read_pj, leakage / file.leakage_mw


def low() -> End:
    """CMOS registers as in the technology, and TFET registers without leakage."""
    return End(1.0, 1.0, 0.0)


def high() -> End:
    """CMOS registers of the other source; TFET registers leak as CMOS registers of that source at 0.3 V."""
    energy_factor, leakage = other_source()
    return End(energy_factor, leakage, LESS_LEAKAGE * leakage)
