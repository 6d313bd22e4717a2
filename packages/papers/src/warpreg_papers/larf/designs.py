"""Machines and designs of the study.

Figures 5.6 to 5.10 are measured on `larf-gp102`, Figure 5.11 on the Fermi of `gtx480` with a table of 200 entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.study import Measure
from warpreg_papers.larf.layers import Layers
from warpreg_papers.larf.sources import BLOCKED_PRODUCT, PLAIN_PRODUCT, SOURCES

WORKLOADS = tuple(
    dict.fromkeys([*(one for names in SOURCES.values() for one in names), PLAIN_PRODUCT, BLOCKED_PRODUCT])
)
PASCAL, FERMI = "larf-gp102", "gtx480"
ENTRIES, UNLIMITED, FERMI_ENTRIES = 400, 2048, 200
"""Table sizes of §5.6.1 and §5.6.3; unlimited is one for each physical register, which has one entry at most."""
CACHED, UNCACHED = "larf-gp102-cached", "larf-gtx480-uncached"
"""The first without contention of memory, the second without a first-level cache for global loads."""
HALF = "larf-gp102-half"
"""With the 128 KB of registers of §5.6 in place of the 2048 warp-registers of §5.6.4."""
FREE, FREE_FERMI = "larf-gp102-free-loads", "larf-gtx480-free-loads"
"""With a memory that takes no time: what no design that spares loads can exceed."""
SCHEDULERS: Mapping[str, str] = {"LRR": PASCAL, "GTO": "larf-gp102-gto", "TWL": "larf-gp102-two-level"}


def larf(entries: int, **options: Value) -> Variant:
    """Shared registers with a table of so many entries."""
    return Variant.of("larf", entries=entries, **options)


def with_las(variant: Variant) -> Variant:
    """The same under the locality-aware scheduler."""
    return Variant("larf+las", tuple((f"larf_{name}", value) for name, value in variant.values))


INFINITE, LIMITED = larf(UNLIMITED), larf(ENTRIES)
LIMITED_LAS, INFINITE_LAS = with_las(LIMITED), with_las(INFINITE)
DESIGNS: Mapping[str, Variant] = {
    "LARF (Infinite)": INFINITE,
    "LARF (400)": LIMITED,
    "LARF (400) + LAS": LIMITED_LAS,
}


def timed(variant: Variant | None = None, machine: str = PASCAL, percent: int = 100) -> Layers:
    """The measure of every launch under a design, by default the main register file alone."""
    return Layers(machine, variant, percent)


PLAIN = timed()
COMPARED: Sequence[Measure[object]] = (PLAIN, *(timed(variant) for variant in DESIGNS.values()))
SCHEDULED: Mapping[str, Layers] = {
    **{name: timed(INFINITE, machine) for name, machine in SCHEDULERS.items()},
    "LAS": timed(INFINITE_LAS),
}
"""Figure 5.6: an unlimited table under each scheduler."""
ON_FERMI = Variant.of("larf", entries=FERMI_ENTRIES, physical=1024, banks=16)
SPARED = 60
"""Percent of the registers that thread blocks are placed by: almost 40% are spared (§5.6.3)."""
PLAIN_FERMI, SHARED_FERMI = timed(machine=FERMI), timed(ON_FERMI, FERMI)
MORE_BLOCKS = timed(ON_FERMI, FERMI, SPARED)
PRODUCTS: Sequence[Measure[object]] = (PLAIN_FERMI, SHARED_FERMI, MORE_BLOCKS)
DEPTHWISE = "depthwise"
"""Kernel of MobileNet's depth-wise layers."""
FREE_DEPTHWISE = tuple(Layers(FREE, variant, first=DEPTHWISE) for variant in (None, LIMITED_LAS))
"""The layer of the largest printed speedup, with and without the design, in a memory that takes no time."""
FREE_PRODUCT = tuple(timed(variant, FREE_FERMI) for variant in (None, ON_FERMI))
ANY_BLOCKS = tuple(timed(variant, FERMI, 1) for variant in (None, ON_FERMI))
"""As many thread blocks as if registers were without number."""
LIMITING: Mapping[Measure[object], Sequence[str]] = {
    **dict.fromkeys(FREE_DEPTHWISE, SOURCES["MobileNet"]),
    **dict.fromkeys(FREE_PRODUCT, (PLAIN_PRODUCT,)),
    **dict.fromkeys(ANY_BLOCKS, (BLOCKED_PRODUCT,)),
}
"""What limits are measured by, and on which workloads."""
MEASURES: Sequence[Measure[object]] = tuple(dict.fromkeys([*COMPARED, *SCHEDULED.values(), *PRODUCTS, *LIMITING]))
_PRODUCTS = (PLAIN_PRODUCT, BLOCKED_PRODUCT)
_OTHERS = tuple(name for name in WORKLOADS if name not in _PRODUCTS)
ONLY: Mapping[Measure[object], Sequence[str]] = {
    **dict.fromkeys(SCHEDULED.values(), SOURCES["CifarNet"]),
    **dict.fromkeys(COMPARED, _OTHERS),
    **dict.fromkeys(PRODUCTS, _PRODUCTS),
    **LIMITING,
}
"""The workloads that the figures show of each measure."""
