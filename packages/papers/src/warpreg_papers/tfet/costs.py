"""Energy of a sample, with what the design adds, divided by that of the gated baseline (section 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpreg import energy, gpu
from warpreg.energy import Technology
from warpreg.evaluation.measures.cost import parts_of
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg_papers.tfet.designs import CMOS_RA, GATED, MACHINE, MEM_RA, TECHNOLOGY


@dataclass(frozen=True, slots=True)
class Cost:
    """Energies, in pJ or of the baseline."""

    dynamic: float
    """With what the design adds."""
    leakage: float
    """With what the design adds."""
    added: float
    """Both of what the design adds alone."""

    @property
    def total(self) -> float:
        """All energy."""
        return self.dynamic + self.leakage

    def over(self, whole: float) -> Cost:
        """Of a whole."""
        return Cost(self.dynamic / whole, self.leakage / whole, self.added / whole)


def spent(sample: Sample, variant: Variant, technology: Technology | None = None) -> Cost:
    """pJ of a sample under a design, on all SMs over all cycles; by default in the technology of the study."""
    tech = energy.load(TECHNOLOGY) if technology is None else technology
    use = Use(sample.counts.events, sample.cycles, sample.sms, sample.resources)
    every = parts_of(variant, use, gpu.load(MACHINE), tech)
    added = [part for part in every if not part.is_level]
    leakage = math.fsum(part.leakage_pj or 0.0 for part in every)
    tables = math.fsum(part.dynamic_pj or 0.0 for part in added)
    return Cost(
        dynamic=energy.account(sample.counts.energy_list(), tech).total_pj + tables,
        leakage=leakage,
        added=tables + math.fsum(part.leakage_pj or 0.0 for part in added),
    )


def normalized(sample: Sample, variant: Variant, plain: Sample, technology: Technology | None = None) -> Cost:
    """Energy of a design, divided by that of the baseline."""
    return spent(sample, variant, technology).over(spent(plain, GATED, technology).total)


def added_area() -> dict[str, float]:
    """Area that a design adds, of the register file: of CMOS_RA the renaming stage, of MEM_RA all (section 3.3)."""
    machine, technology = gpu.load(MACHINE), energy.load(TECHNOLOGY)
    file = technology.arrays.cost(technology.levels["MRF"].spec(512)).area_um2 / 1e6
    found = {"renaming": CMOS_RA, "total": MEM_RA}
    return {
        label: math.fsum(part.area_mm2 for part in added if not part.is_level) / file
        for label, one in found.items()
        for added in [parts_of(one, Use({}), machine, technology)]
    }
