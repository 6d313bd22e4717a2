"""The means of designs over results, for a first look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warpreg.evaluation.runs.row import geometric_mean

SHARE = "elided"
FIGURES = (SHARE, "energy_normalized", "speed", "cycles")
"""Of results, in this order; the mean of shares is the arithmetic one, that of the others the geometric one."""


def design_means(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The means of each design over its results, in the order in which the designs were met."""
    by_design: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_design.setdefault(row["design"], []).append(row)
    return [{"design": design, "results": len(own), **_means(own)} for design, own in by_design.items()]


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The means of the figures that all of the rows have."""
    found: dict[str, float] = {}
    for name in FIGURES:
        values = [float(row[name]) for row in rows if row.get(name) is not None]
        if len(values) == len(rows):
            is_mean = name == SHARE or min(values) <= 0
            found[name] = sum(values) / len(values) if is_mean else geometric_mean(values)
    return found
