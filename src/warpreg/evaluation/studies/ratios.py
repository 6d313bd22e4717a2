"""Helpers for figures of several papers: ratios, and counts in other structures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from warpreg.energy.counts import Access, Move, Structure


def ratio(part: float, whole: float) -> float:
    """``part / whole``; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def mean_ratio(pairs: Iterable[tuple[float, float]], weights: Sequence[float] | None = None) -> float:
    """Arithmetic mean of part divided by whole, without workloads whose whole is 0; 0 if none is left."""
    each = list(pairs)
    ratios = [part / whole for part, whole in each if whole]
    if not ratios or weights is None:
        return fmean(ratios) if ratios else 0.0
    return fmean(ratios, [weight for weight, (_, whole) in zip(weights, each, strict=True) if whole])


def with_structures(items: Iterable[Access | Move], structures: Mapping[str, Structure]) -> list[Access | Move]:
    """The counts with their structures replaced by those of ``structures``, by level name."""
    return [
        dataclasses.replace(item, structure=structures[item.structure.level])
        if isinstance(item, Access)
        else dataclasses.replace(item, source=structures[item.source.level], target=structures[item.target.level])
        for item in items
    ]
