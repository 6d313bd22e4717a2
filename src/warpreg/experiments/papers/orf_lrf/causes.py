"""Causes and ablations of `warpreg.experiments.papers.orf_lrf.results`, and remarks on results that none explains.

The paper placed operands in PTX, in the order of its compiler of 2010, with 32-bit addresses.  Here, operands are
placed in machine code that is scheduled for current latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpreg.experiments.papers.ablation import Ablation
from warpreg.experiments.papers.cause import Cause

PTX = {"level": "ptx", "address_bits": 32}
FERMI_REGISTERS = 21
"""Registers per thread with which all of Fermi's threads are resident (ISCA 2011, section 2)."""

ABLATIONS: Mapping[str, Ablation] = {
    "ptx": Ablation(
        "operands placed in PTX as it stands, addresses of 32 bits, warps stay active at barriers",
        parts=("counts",),
        choice=PTX,
        parameters={"orf-lrf": {"flush_at_barriers": False}},
    ),
    "ptx-lrf-for-all": Ablation(
        "as ptx, and the LRF serves SFU, MEM and TEX too",
        parts=("counts",),
        choice=PTX,
        parameters={"orf-lrf": {"flush_at_barriers": False, "lrf_for_all": True}},
    ),
    "ptx-order": Ablation(
        "no scheduling, addresses of 32 bits", parts=("counts",), choice={"schedule": False, "address_bits": 32}
    ),
    "fermi-registers": Ablation(
        "21 registers a thread, addresses of 32 bits",
        parts=("usage",),
        choice={"max_registers": FERMI_REGISTERS, "address_bits": 32},
    ),
    "reduction-stepped": Ablation(
        "reduction with a loop in each thread, along with which an address steps",
        parts=("benchmarks",),
        code={"reduction": Path(__file__).parent / "other_code" / "reduction_stepped.py"},
    ),
}

_ORDER = (
    "the scheduler moves producers away from their consumers, further than the compilers of 2010 did, and addresses"
    " take pairs of registers"
)
_SHARED = "SFU, MEM and TEX, which do not reach the LRF, read far more of the values here than the 7% of the paper"
_SCHEDULED = Cause("compiler", _ORDER, "ptx-order")
_IN_PTX = Cause(
    "compiler",
    f"{_ORDER}; the paper placed operands in PTX, which has more instructions than machine code",
    "ptx",
)
_HALVES = Cause("compiler", f"{_ORDER}; and {_SHARED}", "ptx-lrf-for-all")
CAUSES: Mapping[str, Cause] = {
    "orf-usage-read-once-within-3": Cause(
        "compiler",
        "the scheduler hoists loads as far as registers allow, which were fewer in 2011",
        "fermi-registers",
    ),
    "orf-sw-energy-saving-max": _SCHEDULED,
    "orf-sw-orf-energy-saving-3": _SCHEDULED,
    "orf-hw-rfc-energy-saving": _IN_PTX,
    "orf-hw-lrf-energy-saving-6": _IN_PTX,
    "orf-sw3-vs-hw3": Cause("input", _SHARED, "ptx-lrf-for-all"),
    "orf-lrf-takes-orf-accesses": _HALVES,
    "orf-lrf-read-share": _HALVES,
    "orf-lrf-read-share-split": _HALVES,
    "orf-split-lrf-read-increase": Cause("input", _SHARED, "ptx-lrf-for-all"),
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
