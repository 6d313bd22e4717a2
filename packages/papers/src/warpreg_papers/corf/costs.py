"""Energy and leakage of a sample under a design, as the paper accounts them (sections 2.7, 2.8, Table 2.2).

An access to a bank costs the energy of Table 2.2, however many bytes it moves: the paper's dynamic energy falls with
the number of accesses alone, and is that of the baseline for packing (Table 2.1).  ``by_slices`` prices the bytes that
an access moves instead.  Leakage is that of the whole register file of an SM, less that of unused physical registers,
with which the paper's savings agree with its sizes (Figures 2.16, 2.18).

The power of the added logic (section 2.8) can be read in three ways, `READINGS`; the technology file says which one is
taken, and why.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from warpreg import energy, gpu
from warpreg.energy.counts import Access
from warpreg.evaluation.measures.cost import Cost, parts_of
from warpreg.evaluation.runs.hardware import plain_leakage
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg_papers.corf.designs import MACHINE, TECHNOLOGY

READINGS: Mapping[str, str] = {
    "operand": "of an SM, by operand", "cycle": "of an SM, every cycle", "chip": "of the chip, every cycle",
}  # fmt: skip
"""Values of the parameter ``logic``, and what the power is then taken to be."""


def dynamic(sample: Sample, variant: Variant, plain: Sample, *, by_slices: bool = False) -> Cost:
    """Dynamic energy, with tables and logic, divided by that of the plain register file."""
    whole = _accesses(plain)
    added = math.fsum(part.dynamic_pj or 0.0 for part in _parts(sample, variant) if not part.is_level)
    return Cost(_accesses(sample, by_slices) / whole, added / whole)


def priced(variant: Variant, logic: str) -> Variant:
    """A design that coalesces with its logic charged in another way."""
    return Variant.of(variant.design, **{**dict(variant.values), "logic": logic})


def leakage(sample: Sample, variant: Variant, plain: Sample) -> Cost:
    """Leakage over the cycles of the design, divided by that of the plain register file over its own."""
    whole = plain_leakage(plain.use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
    if whole is None:
        raise ValueError("leakage needs a run with cycles")
    each = _parts(sample, variant)
    levels = math.fsum(part.leakage_pj or 0.0 for part in each if part.is_level)
    added = math.fsum(part.leakage_pj or 0.0 for part in each if not part.is_level)
    return Cost(levels / whole, added / whole)


def _accesses(sample: Sample, by_slices: bool = False) -> float:
    """pJ of the accesses of a sample."""
    items = sample.counts.energy_list()
    whole = [dataclasses.replace(one, amount=one.count) if isinstance(one, Access) else one for one in items]
    return energy.account(items if by_slices else whole, energy.load(TECHNOLOGY)).total_pj


def _parts(sample: Sample, variant: Variant) -> tuple[Part, ...]:
    """The register file and what the design adds."""
    return parts_of(variant, sample.use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
