"""The register profile of a whole run, over all launches of all its kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from warpreg.evaluation.runs.run import Run
from warpreg.replay import Profile, profile


def register_profile(run: Run) -> Profile:
    """Reads per value, lifetimes, operands and consumers over the run.  Raises RunError without a recorded path."""
    return added([profile(run.distinct_path(kernel), kernel) for kernel in run.kernels])


def added(profiles: Sequence[Profile]) -> Profile:
    """The combined profile of several paths: every count is a sum."""
    return Profile(
        warp_instructions=sum(one.warp_instructions for one in profiles),
        operands=np.sum([one.operands for one in profiles], axis=0),
        values_by_reads=_total([one.values_by_reads for one in profiles]),
        once_read_by_lifetime=_total([one.once_read_by_lifetime for one in profiles]),
        values_by_use=np.sum([one.values_by_use for one in profiles], axis=0),
    )


def _total(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)
