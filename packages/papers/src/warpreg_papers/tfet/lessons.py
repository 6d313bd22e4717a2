"""What a designer learns from the study of registers in two technologies."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.tfet import frames
from warpreg_papers.tfet.designs import ALL_TFET, BASELINE, GATED, MEM_RA


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if BASELINE not in study.found or not frames.names(study, MEM_RA):
        return
    times, stalls = frames.time(study, ALL_TFET), frames.stalls(study)
    slow, fast = max(times, key=lambda name: times[name]), min(times, key=lambda name: times[name])
    yield (
        f"Registers that take twice as long cost a kernel between {times[fast] - 1:.0%} ({fast}) and"
        f" {times[slow] - 1:.0%} ({slow}) of its time; these two wait for memory {stalls[fast]:.0%} and"
        f" {stalls[slow]:.0%} of it. Slow registers are for warps that wait."
    )
    saved, costs = frames.saved(study, MEM_RA, lambda cost: cost.total), frames.energies(study, GATED)
    leakage = frames.mean(study, {name: cost.leakage for name, cost in costs.items()})
    whole = frames.mean(study, saved)
    if whole is not None and leakage is not None:
        yield (
            f"Choosing the technology of each register by memory contention saves {whole:.0%} of the energy. Leakage is"
            f" {leakage:.0%} of it; to gate a fixed part of the registers saves at most that part of the leakage."
        )
