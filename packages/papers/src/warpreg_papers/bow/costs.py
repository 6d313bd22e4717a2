"""Energy of samples in the technology of Table 3.4, and the storage that designs add (section 3.5.1)."""

from __future__ import annotations

import math

import pandas as pd

from warpreg import energy, gpu
from warpreg.energy.cost import access_cost
from warpreg.energy.counts import Structure
from warpreg.energy.storage import storage
from warpreg.evaluation.measures.cost import Cost, parts_of
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg_papers import published
from warpreg_papers.bow.designs import DESIGNS, HALF, MACHINE, RFC, TECHNOLOGY

MRF, BOC = "MRF", "BOC"
BANK_BYTES = 64 * 1024
"""What Table 3.4 calls a register bank."""


def dynamic(sample: Sample, plain: Sample, variant: Variant) -> Cost:
    """Dynamic energy: accesses of the register file; and, as overhead, accesses of collectors or caches, and the added
    network.
    """
    whole = _whole_pj(plain)
    hardware = math.fsum(part.dynamic_pj or 0.0 for part in _parts(variant, sample.use))
    levels = energy.account(sample.counts.energy_list(), energy.load(TECHNOLOGY)).levels()
    accesses = math.fsum(level.total for name, level in levels.items() if name != MRF)
    return Cost(levels[MRF].total / whole, (accesses + hardware) / whole)


def overhead_by_power(sample: Sample, plain: Sample) -> float:
    """The overhead if each access of a collector costs what Table 3.4 prints, and the network takes the share of the
    register file's energy that it has of its power (section 3.5.1).
    """
    accesses = sample.counts.reads(BOC) + sample.counts.writes(BOC, moves=True)
    network = published.number("bow-network-power") / (1000 * published.number("bow-rf-power"))
    return accesses * published.number("bow-boc-access-energy") / _whole_pj(plain) + network


def _whole_pj(plain: Sample) -> float:
    return energy.account(plain.plain.energy_list(), energy.load(TECHNOLOGY)).total_pj


def added_kb(variant: Variant) -> float:
    """Storage of an SM that a design adds, in KB.  A bypassing collector takes the place of a plain one."""
    return sum(part.bytes for part in _parts(variant, Use({}))) / 1024


def storage_added() -> pd.DataFrame:
    """Storage that designs add to an SM (section 3.5.1)."""
    designs = {"BOW": DESIGNS["BOW"], "BOW-WR, 6 entries": HALF, "RFC": RFC}
    return pd.DataFrame([{"design": name, "KB": added_kb(variant)} for name, variant in designs.items()])


def table_34() -> pd.DataFrame:
    """Table 3.4: a collector divided by a register bank of 64 KB, with all entries and with half of them."""
    technology, machine = energy.load(TECHNOLOGY), gpu.load(MACHINE)
    file, bank_energy = storage(technology, Structure(MRF), machine), access_cost(technology, Structure(MRF), "read")
    rows = []
    for label, variant in (("12 entries", DESIGNS["BOW"]), ("6 entries", HALF)):
        collector = _collector(variant)
        every = storage(technology, collector, machine)
        shares = {
            "size": every.bytes / machine.sm.warps / BANK_BYTES,
            "access energy": access_cost(technology, collector, "read").pj / bank_energy.pj,
            "leakage power": every.leakage_mw / machine.sm.warps / (file.leakage_mw * BANK_BYTES / file.bytes),
        }
        rows += [{"collector": label, "quantity": what, "share": share} for what, share in shares.items()]
    return pd.DataFrame(rows)


def _collector(variant: Variant) -> Structure:
    chosen = variant.chosen()
    return next(one for one in chosen.design.structures(chosen.values) if one.level == BOC)


def _parts(variant: Variant, use: Use) -> tuple[Part, ...]:
    """What a design adds to the register file."""
    found = parts_of(variant, use, gpu.load(MACHINE), energy.load(TECHNOLOGY))
    return tuple(part for part in found if part.name != MRF)
