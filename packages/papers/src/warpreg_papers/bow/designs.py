"""Workloads, machine and designs of the study of bypassing operand collectors.

The workloads are the fifteen of Table 3.3, fixed before anything was measured.  Shares of reads, writes and results
(Figures 3.3, 3.7, 3.8) are those of complete runs, replayed.  Everything else is timed on all SMs with the same sample
for all designs (`warpreg.evaluation.runs.sampling`): up to 4 launches of each kernel, evenly spaced, and of each the
first thread blocks with a million warp-instructions in total, but at least as many as the SMs hold at a time.  Thread
blocks would fill a single SM, whose other warps would hide what operands wait for; half of these benchmarks do not
fill the SMs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.sampling import AllSms
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sampled
from warpreg.evaluation.studies.study import Measure, Replay
from warpreg_papers.bow import banked_cache
from warpreg_papers.bow.recorder import InstructionTimes
from warpreg_papers.bow.sources import Sources

WORKLOADS = (
    "lib", "lps", "sto", "wp", "backprop", "bfs", "b-tree", "gaussian", "mummergpu", "nw", "srad", "cifarnet",
    "squeezenet", "vector-add", "sad",
)  # fmt: skip
MACHINE, TECHNOLOGY = "bow-titanx", "bow"
LIMIT_MACHINE = "bow-titanx-ideal"
"""The machine on which operands take no time."""
GENERATIONS: Mapping[str, str] = {"Pascal": MACHINE, "Fermi": "bow-fermi", "Volta": "bow-volta"}
"""Machines on which section 3.3 repeats the counts of Figure 3.3."""
WINDOWS = (2, 3, 4, 5, 6, 7)
"""Windows of Figure 3.3 (section 3.3)."""
TIMED_WINDOWS = (2, 3, 4)
"""Windows of Figure 3.10."""
CHOSEN, HALF_ENTRIES, RFC_ENTRIES = 3, 6, 6
"""The window of the paper; registers by warp of its half-size collector and of the register file cache (sections 3.3,
3.4.3, 3.5.1)."""
MRF = Replay.of("mrf")
SOURCES = Sources()


def bow(window: int) -> Variant:
    """Collectors that write through."""
    return Variant.of("bow", window=window)


def bow_wr(window: int, **options: Value) -> Variant:
    """Collectors that write back, with the compiler's hints."""
    return Variant.of("bow-wr", window=window, **options)


HALF = bow_wr(CHOSEN, entries=HALF_ENTRIES)
RFC = Variant.of(banked_cache.__file__, entries=RFC_ENTRIES)
"""The register file cache of section 3.5.1, with liveness, for all warps: no two-level scheduler."""
DESIGNS: Mapping[str, Variant] = {"BOW": bow(CHOSEN), "BOW-WR": bow_wr(CHOSEN)}
FAMILIES = {"BOW": bow, "BOW-WR": bow_wr}


def replayed(variant: Variant) -> Replay:
    """The measure of a design's counts over complete runs."""
    return Replay(variant.design, variant.values)


def timed(variant: Variant | None = None, machine: str = MACHINE) -> Sampled:
    """The measure of a design in time; by default, of the main register file alone.

    Times of instructions are kept for this one and BOW (Figures 3.4 and 3.12).
    """
    is_timed = variant is None or variant.design == "bow"
    return Sampled(machine, variant, AllSms(), InstructionTimes() if is_timed else None)


PLAIN = timed()
LIMIT = Sampled(LIMIT_MACHINE, sampling=AllSms())
REUSE: Sequence[Measure[object]] = (
    MRF,
    *(replayed(family(window)) for family in FAMILIES.values() for window in WINDOWS),
)
COMPARED: Sequence[Measure[object]] = (PLAIN, timed(bow(CHOSEN)), timed(bow_wr(CHOSEN)), timed(HALF), timed(RFC))
"""What the results with cycles need."""
SAMPLES: Sequence[Measure[object]] = tuple(
    dict.fromkeys(
        [*COMPARED, LIMIT, *(timed(family(window)) for family in FAMILIES.values() for window in TIMED_WINDOWS)]
    )
)  # fmt: skip
OTHER_MACHINES: Sequence[Measure[object]] = tuple(
    timed(bow_wr(CHOSEN), machine) for machine in GENERATIONS.values() if machine != MACHINE
)
MEASURES: Sequence[Measure[object]] = (*REUSE, SOURCES, *SAMPLES, *OTHER_MACHINES)
