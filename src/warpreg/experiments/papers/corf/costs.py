"""Energy and leakage of a sample under a design, as the paper accounts them (sections 2.7, 2.8, Table 2.2).

An access to a bank costs the energy of Table 2.2, however many bytes it moves: the paper's dynamic energy falls with
the number of accesses alone, and is that of the baseline for packing (Table 2.1).  ``by_slices`` prices the bytes that
an access moves instead.  Leakage is that of the whole register file of an SM, less that of unused physical registers,
with which the paper's savings agree with its sizes (Figures 2.16, 2.18).

The power of the added logic (section 2.8) can be read in three ways, `Reading`; the technology file says which one is
taken, and why.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from warpreg import energy, gpu
from warpreg.designs import load
from warpreg.designs.interface.hardware import Logic
from warpreg.energy.counts import Access
from warpreg.energy.hardware import logic_cost
from warpreg.experiments.papers.corf.designs import MACHINE, TECHNOLOGY
from warpreg.experiments.runs.hardware import parts, plain_leakage
from warpreg.experiments.runs.parts import Part
from warpreg.experiments.runs.scheduled import Variant
from warpreg.experiments.runs.timed_design import DesignSample

Reading = Literal["operand", "cycle", "chip"]
READINGS: Mapping[Reading, str] = {
    "operand": "of an SM, by operand", "cycle": "of an SM, every cycle", "chip": "of the chip, every cycle",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """Of the baseline: the share of the register file, and that of the structures that the design adds."""

    register_file: float
    added: float

    @property
    def total(self) -> float:
        """Normalized to the baseline."""
        return self.register_file + self.added


def dynamic(
    sample: DesignSample,
    variant: Variant,
    plain: DesignSample,
    *,
    by_slices: bool = False,
    reading: Reading = "operand",
) -> Cost:
    """Dynamic energy, with tables and logic, divided by that of the plain register file."""
    whole = _accesses(plain)
    logic = _logic(variant)
    added = math.fsum(
        _drawn(part.name, sample, reading) if part.name in logic and reading != "operand" else part.dynamic_pj or 0.0
        for part in _parts(sample, variant)
        if not part.is_level
    )
    return Cost(_accesses(sample, by_slices) / whole, added / whole)


def _logic(variant: Variant) -> set[str]:
    """The names of the logic that a design adds."""
    design = load(variant.design)
    added = design.hardware(design.configure(**dict(variant.values)), gpu.load(MACHINE))
    return {one.name for one in added if isinstance(one, Logic)}


def _drawn(name: str, sample: DesignSample, reading: Reading) -> float:
    """pJ that the logic of an SM draws at the power of section 2.8, in every cycle."""
    chip = gpu.load(MACHINE).chip
    power = logic_cost(energy.load(TECHNOLOGY), name, by_event=False).power_mw
    return power * sample.cycles * 1000 / chip.clock_mhz / (chip.sms if reading == "chip" else 1)


def leakage(sample: DesignSample, variant: Variant, plain: DesignSample) -> Cost:
    """Leakage over the cycles of the design, divided by that of the plain register file over its own."""
    whole = plain_leakage(plain.use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
    if whole is None:
        raise ValueError("leakage needs a run with cycles")
    each = _parts(sample, variant)
    levels = math.fsum(part.leakage_pj or 0.0 for part in each if part.is_level)
    added = math.fsum(part.leakage_pj or 0.0 for part in each if not part.is_level)
    return Cost(levels / whole, added / whole)


def _accesses(sample: DesignSample, by_slices: bool = False) -> float:
    """pJ of the accesses of a sample."""
    items = sample.counts.energy_list()
    whole = [dataclasses.replace(one, amount=one.count) if isinstance(one, Access) else one for one in items]
    return energy.account(items if by_slices else whole, energy.load(TECHNOLOGY)).total_pj


def _parts(sample: DesignSample, variant: Variant) -> tuple[Part, ...]:
    """The register file and what the design adds."""
    design = load(variant.design)
    parameters = design.configure(**dict(variant.values))
    return parts(design, parameters, sample.use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
