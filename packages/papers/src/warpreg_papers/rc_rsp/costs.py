"""Register energies of the register cache and scratchpad paper, and where a difference to the printed ones comes from.

Energies are those of the technology ``rc-rsp-28nm``, derived from CACTI.  Each has a band: the energies if an access of
the main register file goes through the banks of its scheduler only, or through all banks of the SM.  The code is the
same, compiled with the prices in between.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from warpreg import energy
from warpreg.designs import load
from warpreg.energy import Technology
from warpreg.energy.cost import access_cost, wire_cost
from warpreg.energy.counts import Action, Structure
from warpreg.evaluation.studies.ratios import with_structures
from warpreg.replay import Counts
from warpreg_papers.rc_rsp.designs import LINES_PER_KB, Design

TECHNOLOGY = "rc-rsp-28nm"
MRF = "MRF"


def technology() -> Technology:
    """The technology of all results."""
    return energy.load(TECHNOLOGY)


def ends() -> tuple[Technology, Technology]:
    """The technology with the least and with the most costly way through the banks."""
    found = technology().ends()
    assert found is not None
    return found


def spent(
    counted: Counts, design: Design | None = None, priced_kb: float | None = None, priced: Technology | None = None
) -> float:
    """pJ of counts with the stores that the design declares, or with the access energy of ``priced_kb``."""
    structures = {MRF: Structure(MRF)} | (stores(design, priced_kb) if design else {})
    items = with_structures(counted.energy_list(), structures)
    return energy.account(items, priced or technology()).total_pj


def stores(design: Design, priced_kb: float | None = None) -> dict[str, Structure]:
    """What the design declares above the main register file, by level."""
    loaded = load(design.design)
    found = {one.level: one for one in loaded.structures(loaded.configure(**dict(design.values))) if one.level != MRF}
    if priced_kb is None:
        return found
    lines = int(priced_kb * LINES_PER_KB)
    return {level: dataclasses.replace(one, entries=lines) for level, one in found.items()}


@dataclass(frozen=True, slots=True)
class ElidedShares:
    """Shares of reads and writes kept from the main register file."""

    reads: float
    writes: float


def served(design: Design, counted: Counts, baseline: Counts, measured: ElidedShares, printed: ElidedShares) -> float:
    """The change of normalized energy if the printed instead of the measured shares were elided, at the same prices.

    To first order: a further read that is elided is one of the stores instead of the main register file, in their mix
    of the run.  A further write is one that the cache drops instead of writing it back, as it receives all results; the
    scratchpad alone writes it instead of the main register file.
    """
    upper = stores(design)
    reads = {level: counted.reads(level) for level in upper}
    whole = max(1, sum(reads.values()))
    in_store = sum(price(upper[level], "read") * number for level, number in reads.items()) / whole
    passed = -price(upper["RC"], "read") if "RC" in upper else price(upper["RSP"], "write")
    fewer_reads = (printed.reads - measured.reads) * baseline.reads() * (price(Structure(MRF), "read") - in_store)
    fewer_writes = (printed.writes - measured.writes) * baseline.writes() * (price(Structure(MRF), "write") - passed)
    return -(fewer_reads + fewer_writes) / spent(baseline)


def price(structure: Structure, action: Action) -> float:
    """pJ of an access, with its way through the banks."""
    known = technology()
    return access_cost(known, structure, action).pj + wire_cost(known, structure, "private")
