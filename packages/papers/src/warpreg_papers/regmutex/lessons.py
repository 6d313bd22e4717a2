"""What a designer learns from the study of registers that warps share over time."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.evaluation.studies.study import Study
from warpreg_papers.regmutex.designs import REGMUTEX, ceiling, under
from warpreg_papers.regmutex.frames import held_shares, increases, mean, reductions
from warpreg_papers.regmutex.kernels import FULL_GROUP, HALF_GROUP


def lessons(study: Study) -> Iterator[str]:
    """Sentences with the figures of the study; none without its runs."""
    if not study.found:
        return
    unlimited = reductions(study, ceiling(FULL_GROUP))
    if unlimited:
        most = max(unlimited, key=lambda name: unlimited[name])
        yield (
            f"Registers without number save {mean(study, unlimited):.1%} of the cycles on the mean of"
            f" {len(unlimited)} kernels that registers limit, at most {unlimited[most]:.1%} ({most}), and make some"
            " slower: more warps are no gain in themselves."
        )
    held = held_shares(study).pivot_table(index="workload", columns="what", values="share")
    slower = increases(study, under(REGMUTEX, HALF_GROUP))
    if not held.empty and slower:
        enough = held[held["time held"] < held["sections"]].index
        rest = [name for name in slower if name in held.index and name not in enough]
        fine = [name for name in slower if name in enough]
        yield (
            "A pool of registers that warps take in turns has enough of them where a warp holds its share for less of"
            f" its time than there are sections for a warp: {len(enough)} of {len(held)} kernels."
            + (f" On half of the file, these take {_mean(slower, fine):.0%} longer with RegMutex" if fine else "")
            + (f", the others {_mean(slower, rest):.0%}." if fine and rest else "." if fine else "")
        )


def _mean(values: dict[str, float], names: list[str]) -> float:
    return sum(values[name] for name in names) / len(names)
