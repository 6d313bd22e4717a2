"""What becomes of instructions that read several registers, and conflicts of banks: beside the figures of the paper.

From the opportunity to the coalesced instruction (sections 2.3, 2.4.3, 2.5.3): two of its registers fit one physical
register; the compiler has made a pair of two of them, or put them on different sides; these fit; one read delivers two.
What is lost between the last two is the allocation: one of them had no place beside the other, or on its side.

The map of warps to banks (section 2.5.2): with it two warps always conflict or never, without it sometimes.  The
renaming table has a bank for each bank of the register file (section 2.6), with two ports, so that the lookups of a
warp conflict under the map, while those of baseline banks spread.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.ratios import ratio
from warpreg.evaluation.studies.study import Study
from warpreg_papers.corf.designs import BOTH, CORF, MAPPINGS, PLAIN, timed
from warpreg_papers.corf.samples import names

STEPS: Mapping[str, str] = {
    "coalesceable": "two registers fit",
    "matched": "pair, or different sides",
    "fitting": "and these fit",
    "coalesced": "coalesced",
}
"""Events of a design, and what they are called."""
LABELS = {"corf": "CORF", "corf-pp": "CORF++"}
BANKS, TABLE = "register file", "renaming table"


def steps(study: Study) -> pd.DataFrame:
    """Shares of the instructions that read several registers, by workload, design and step."""
    rows = []
    for label, variant in BOTH.items():
        for name in names(study):
            events = study[timed(variant)][name].counts.events
            rows += [
                {"workload": name, "design": LABELS[label], "step": step, "instructions": value}
                for step, value in ((step, ratio(events[e], events["multiple_sources"])) for e, step in STEPS.items())
            ]
    return pd.DataFrame(rows, columns=["workload", "design", "step", "instructions"])


def conflicts(study: Study) -> pd.DataFrame:
    """Conflicts of the register file's banks and of the renaming table's, of all their accesses, by workload."""
    rows = []
    found = {"baseline": study[PLAIN], "CORF": study[timed(CORF)]}
    found |= {f"CORF++, {label}": study[timed(variant)] for label, variant in MAPPINGS.items()}
    for label, samples in found.items():
        for name in names(study):
            for what, rate in rates(samples[name]).items():
                rows.append({"workload": name, "banks of": what, "mapping": label, "conflicts": rate})
    return pd.DataFrame(rows, columns=["workload", "banks of", "mapping", "conflicts"])


def rates(sample: Sample) -> dict[str, float]:
    """By kind of banks: cycles in which a bank has a read that waits, and accesses of the table that wait for a port,
    of all accesses.
    """
    events, counts = sample.counts.events, sample.counts
    found = {BANKS: ratio(sample.bank_conflicts, counts.reads() + counts.writes())}
    accesses = events.get("renaming lookups", 0) + events.get("renaming updates", 0)
    return found | ({TABLE: ratio(events.get("renaming conflicts", 0), accesses)} if accesses else {})
