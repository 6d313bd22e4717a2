"""The designs that the figures of CASES 2018 compare: cache, scratchpad and hybrid of a given size in KB."""

from __future__ import annotations

import dataclasses

from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.study import Replay
from warpreg_papers.rc_rsp.sizes import SIZES, AtSize

CAPACITIES_KB = (8, 12, 16, 20, 24)
SPLITS_KB = (2, 4, 6, 8)
"""KB of scratchpad among the 12 KB, in Figure 8."""
CHOSEN_KB, HALF_KB, SCRATCHPAD_KB = 12, 6, 4
LINES_PER_KB, ENTRIES_PER_KB = 2, 0.5
"""Lines of a scheduler's cache and registers of an active warp per KB of an SM: four schedulers of four active warps,
lines of 128 bytes.
"""
ACTIVE_WARPS = 4
MRF = Replay.of("mrf")


def rc(kb: float, private: bool = False, **options: Value) -> Variant:
    """Cache alone."""
    return Variant.of("rc", lines=int(kb * LINES_PER_KB), private=private, **options)


def rsp(kb: float, **options: Value) -> Replay:
    """Scratchpad alone; its counts do not depend on a schedule."""
    return Replay.of("rsp", entries=int(kb * ENTRIES_PER_KB), **options)


def hybrid(cache_kb: float, scratchpad_kb: float, organisation: str = "hierarchy", **options: Value) -> Variant:
    """Both."""
    return Variant.of(
        "rc-rsp",
        lines=int(cache_kb * LINES_PER_KB),
        entries=int(scratchpad_kb * ENTRIES_PER_KB),
        organisation=organisation,
        **options,
    )


def chosen(**options: bool | str) -> Variant:
    """The hybrid of the comparison, with other options."""
    return hybrid(CHOSEN_KB - SCRATCHPAD_KB, SCRATCHPAD_KB, "hierarchy", **options)


CHOSEN = chosen()
HYBRID_OPTIONS = {
    "low priority of immediate succession": chosen(brief_last=True),
    "tail-only shortening": chosen(shortening="tail"),
    "one write a range": chosen(several_writes=False),
    "strands of orf-lrf": chosen(strands="orf-lrf"),
    "allocator of orf-lrf": chosen(allocator="orf-lrf"),
}
"""The hybrid with another option of its scratchpad's compiler each."""
READ_ALLOCATING = {"RC": rc(CHOSEN_KB, allocate_sources=True), "hybrid": chosen(allocate_sources=True)}
VARIANTS = tuple(
    dict.fromkeys(
        (
            *(rc(kb) for kb in CAPACITIES_KB),
            rc(CHOSEN_KB, private=True),
            *(hybrid(kb / 2, kb / 2) for kb in CAPACITIES_KB),
            *(hybrid(CHOSEN_KB - kb, kb) for kb in SPLITS_KB),
            *(hybrid(8, 4, organisation) for organisation in ("parallel-evict", "parallel-apart")),
            *READ_ALLOCATING.values(),
            *HYBRID_OPTIONS.values(),
        )
    )
)
SCHEDULED = Scheduled("gtx980-two-level", VARIANTS)
COMPARED = Scheduled(
    "gtx980-two-level", (rc(CHOSEN_KB), CHOSEN, hybrid(8, 4, "parallel-evict"), hybrid(8, 4, "parallel-apart"))
)
"""Measures for the comparison of designs."""
SWEPT_WARPS = (16, 32)
SWEPT = {warps: dataclasses.replace(COMPARED, warps=warps) for warps in SWEPT_WARPS}
"""The comparison on SMs that hold at most so many warps; the machine holds 64."""
SMALLER = {size: AtSize(COMPARED, size) for size in SIZES[:-1]}
"""The comparison at smaller inputs."""
ABLATIONS = {
    "tail-only shortening": rsp(CHOSEN_KB, shortening="tail"),
    "one write a range": rsp(CHOSEN_KB, several_writes=False),
    "strands of orf-lrf": rsp(CHOSEN_KB, strands="orf-lrf"),
    "allocator of orf-lrf": rsp(CHOSEN_KB, allocator="orf-lrf"),
    "no read allocations": rsp(CHOSEN_KB, operands=False),
    "no live-out values": rsp(CHOSEN_KB, live_out=False),
}
TIMED = {
    "RC": rc(CHOSEN_KB),
    "RSP": Variant.of("rsp", entries=int(CHOSEN_KB * ENTRIES_PER_KB)),
    "hybrid": CHOSEN,
}
"""Designs whose cycles are compared."""
Design = Variant | Replay
