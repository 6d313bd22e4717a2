"""Causes and ablations of `warpreg.experiments.papers.orf_lrf.results`, and remarks on results that none explains.

The paper placed operands in PTX that was scheduled; how it was is not printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

FERMI_REGISTERS = 21
"""Registers per thread with which all of Fermi's threads are resident (ISCA 2011, section 2)."""
SOURCE_ORDER = {"schedule": False}

ABLATIONS: Mapping[str, Ablation] = {
    "source-order": Ablation(
        "instructions in the order in which the PTX is written", parts=("counts",), choice=SOURCE_ORDER
    ),
    "lrf-for-all": Ablation(
        "in that order, and the LRF serves SFU, MEM and TEX too",
        parts=("counts",),
        choice=SOURCE_ORDER,
        parameters={"orf-lrf": {"lrf_for_all": True}},
    ),
    "fermi-registers": Ablation(
        "21 registers a thread",
        parts=("usage",),
        choice={"max_registers": FERMI_REGISTERS},
    ),
    "reduction-stepped": Ablation(
        "reduction with a loop in each thread, along with which an address steps",
        parts=("benchmarks",),
        code={"reduction": Path(__file__).parent / "other_code" / "reduction_stepped.py"},
    ),
}

_ORDER = (
    "which compiler scheduled the PTX is not printed; the scheduler here moves producers away from their consumers, as"
    " far as the latencies of Table 2 ask for"
)
_SHARED = "SFU, MEM and TEX, which do not reach the LRF, read far more of the values here than the 7% of the paper"
_SCHEDULED = Cause("compiler", _ORDER, "source-order")
_HALVES = Cause("compiler", f"{_ORDER}; and {_SHARED}", "lrf-for-all")
CAUSES: Mapping[str, Cause] = {
    "orf-usage-read-once-within-3": Cause(
        "compiler",
        "the scheduler hoists loads as far as registers allow, which were fewer in 2011",
        "fermi-registers",
    ),
    "orf-sw-energy-saving-max": _SCHEDULED,
    "orf-sw-orf-energy-saving-3": _SCHEDULED,
    "orf-hw-rfc-energy-saving": _SCHEDULED,
    "orf-hw-lrf-energy-saving-6": _SCHEDULED,
    "orf-sw3-vs-hw3": _HALVES,
    "orf-lrf-takes-orf-accesses": _HALVES,
    "orf-lrf-read-share": _HALVES,
    "orf-lrf-read-share-split": _HALVES,
    "orf-split-lrf-read-increase": _HALVES,
    "orf-opt-mrf-read-reduction": _SCHEDULED,
    "orf-rfc-extra-reads": _SCHEDULED,
    "orf-orf-write-reduction": _SCHEDULED,
    "orf-overhead-writes-hw": _SCHEDULED,
    "orf-mrf-energy-share": _SCHEDULED,
    "orf-limit-backward-branch": _SCHEDULED,
    "orf-limit-8-entries-at-3-cost": _SCHEDULED,
    "orf-limit-5-entries-at-3-cost": _SCHEDULED,
    "orf-limit-never-flush": _SCHEDULED,
    "orf-reduction-saving": Cause(
        "compiler",
        "the paper's code has a tight loop along which addresses step, so that they live from turn to turn; here a"
        " thread adds two elements and then a tree",
        "reduction-stepped",
    ),
}
REMARKS: Mapping[str, str] = {
    "orf-overhead-writes-sw": "where loops are short, many results are needed in their strand and in the next turn",
}
