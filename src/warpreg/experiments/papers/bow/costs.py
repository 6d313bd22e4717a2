"""Energy of samples in the technology of Table 3.4, and the storage that designs add (section 3.5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from warpreg import energy, gpu
from warpreg.designs import load
from warpreg.energy.cost import access_cost
from warpreg.energy.counts import Structure
from warpreg.energy.storage import storage
from warpreg.experiments.papers.bow.designs import (
    DESIGNS,
    ENTRIES,
    HALF,
    HALF_ENTRIES,
    MACHINE,
    PLAIN_ENTRIES,
    RFC,
    TECHNOLOGY,
)
from warpreg.experiments.papers.bow.samples import Sample
from warpreg.experiments.runs.hardware import parts
from warpreg.experiments.runs.scheduled import Variant
from warpreg.experiments.studies.ratios import with_structures

MRF = "MRF"
WARP_REGISTER_BYTES = 128


@dataclass(frozen=True, slots=True)
class Cost:
    """Dynamic energy normalized to the baseline: that of the register file, and that of what the design adds."""

    register_file: float
    added: float

    @property
    def total(self) -> float:
        """With the overhead."""
        return self.register_file + self.added


def dynamic(sample: Sample, plain: Sample, variant: Variant) -> Cost:
    """Accesses of the register file; and, as overhead, accesses of collectors or caches, and the added network."""
    whole = energy.account(plain.plain.energy_list(), energy.load(TECHNOLOGY)).total_pj
    items = with_structures(sample.counts.energy_list(), structures(variant))
    levels = energy.account(items, energy.load(TECHNOLOGY)).levels()
    of_levels = math.fsum(level.total for name, level in levels.items() if name != MRF)
    return Cost(levels[MRF].total / whole, (of_levels + _hardware(sample, variant)) / whole)


def structures(variant: Variant) -> dict[str, Structure]:
    """The levels of a design at its sizes, as the technology prices them by name."""
    design = load(variant.design)
    declared = design.structures(design.configure(**dict(variant.values)))
    return {one.level: Structure(one.level, entries=one.entries) for one in declared}


def _hardware(sample: Sample, variant: Variant) -> float:
    """Dynamic energy of tables and logic that the design declares, in pJ."""
    design = load(variant.design)
    parameters = design.configure(**dict(variant.values))
    added = parts(design, parameters, sample.use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
    return math.fsum(one.dynamic_pj or 0.0 for one in added if not one.is_level)


def added_kb(variant: Variant) -> float:
    """Storage of an SM that a design adds, in KB.  A bypassing collector takes the place of a plain one."""
    warps = gpu.load(MACHINE).sm.warps
    sizes = {name: one.entries or 0 for name, one in structures(variant).items() if name != MRF}
    instead = PLAIN_ENTRIES * ("BOC" in sizes)
    return (sum(sizes.values()) - instead) * warps * WARP_REGISTER_BYTES / 1024


def storage_added() -> pd.DataFrame:
    """Storage that designs add to an SM (section 3.5.1)."""
    designs = {"BOW, full": DESIGNS["BOW"], "BOW-WR, half": HALF, "RFC": RFC}
    return pd.DataFrame([{"design": name, "KB": added_kb(variant)} for name, variant in designs.items()])


def table_34() -> pd.DataFrame:
    """Table 3.4: a collector divided by a register bank of 64 KB, in the technology of the study."""
    technology, machine = energy.load(TECHNOLOGY), gpu.load(MACHINE)
    bank = Structure(MRF)
    file = storage(technology, bank, machine)
    rows = []
    for label, entries in (("12 entries", ENTRIES), ("6 entries", HALF_ENTRIES)):
        collector = Structure("BOC", entries=entries)
        every = storage(technology, collector, machine)
        one, banks = machine.sm.warps, file.bytes / BANK_BYTES
        rows += [
            {"collector": label, "quantity": "size", "share": every.bytes / one / BANK_BYTES},
            {
                "collector": label,
                "quantity": "access energy",
                "share": access_cost(technology, collector, "read").pj / access_cost(technology, bank, "read").pj,
            },
            {
                "collector": label,
                "quantity": "leakage power",
                "share": every.leakage_mw / one / (file.leakage_mw / banks),
            },
        ]
    return pd.DataFrame(rows)


BANK_BYTES = 64 * 1024
"""What Table 3.4 calls a register bank."""
