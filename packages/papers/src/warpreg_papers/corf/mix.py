"""The mix of integer and floating point benchmarks that the printed means imply (thesis of 2021, section 2.7).

The paper prints means over its integer benchmarks, over its floating point ones and over all 20.  The mean over all is
``w`` times the first plus ``1 - w`` times the second, where ``w`` is the share of integer benchmarks; for gains of
instructions per cycle the mean over all is harmonic, taken here as that of the two classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from warpreg_papers import published
from warpreg_papers.ablation import Mix
from warpreg_papers.corf.designs import INTEGER, WORKLOADS

BENCHMARKS = 20
ACCESSES = (
    ("corf-access-reduction-int", "corf-access-reduction-fp", "corf-access-reduction-all"),
    ("corf-pp-access-reduction-int", "corf-pp-access-reduction-fp", "corf-pp-access-reduction-all"),
)
GAINS = (
    ("corf-ipc-int", "corf-ipc-fp", "corf-ipc-all"),
    ("corf-pp-ipc-int", "corf-pp-ipc-fp", "corf-pp-ipc-all"),
)
"""Printed means over integer, floating point and all benchmarks."""


def integer_share(integer: float, floating: float, every: float) -> float:
    """The share of integer benchmarks by three arithmetic means."""
    return (every - floating) / (integer - floating)


def integer_share_of_gains(integer: float, floating: float, every: float) -> float:
    """The share of integer benchmarks by gains of speed, of which the mean over all is harmonic."""
    return integer_share(1 / (1 + integer), 1 / (1 + floating), 1 / (1 + every))


def integer_benchmarks() -> int:
    """How many of the 20 benchmarks compute on integers: the mean of what the printed means imply, rounded."""
    shares = [integer_share(*_printed(ids)) for ids in ACCESSES]
    shares += [integer_share_of_gains(*_printed(ids)) for ids in GAINS]
    return round(BENCHMARKS * fmean(shares))


def _printed(ids: Sequence[str]) -> tuple[float, float, float]:
    integer, floating, every = map(published.number, ids)
    return integer, floating, every


def printed_mix() -> Mix:
    """All workloads, each class with the weight of as many benchmarks as the paper has of it."""
    integer = integer_benchmarks()
    return Mix(
        "section 2.7: means over integer, floating point and all benchmarks (Figures 2.14, 2.15)",
        {
            "integer": (integer, tuple(name for name in WORKLOADS if name in INTEGER)),
            "floating point": (BENCHMARKS - integer, tuple(name for name in WORKLOADS if name not in INTEGER)),
        },
    )
