"""The ranking of a leaderboard: by one score, and among equals by the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from warpreg.checks.leaderboard.process import Outcome

Score = Literal["energy", "cycles", "storage"]
SCORES: tuple[Score, ...] = get_args(Score)
"""All are better if lower."""
DIGITS = 6
"""Significant digits; designs that differ in later ones are equal."""


def ranked(found: Sequence[Outcome], by: Score) -> list[tuple[int, Outcome]]:
    """Outcomes with their ranks, the best first; 0 is the rank of those without scores, which come last, by name.

    Designs that are equal in all scores share a rank, and the next rank counts them all.
    """
    keys = {one.name: _key(one, by) for one in found if not one.reason}
    scored = sorted((one for one in found if not one.reason), key=lambda one: (keys[one.name], one.name))
    ranks = [1 + sum(keys[other.name] < keys[one.name] for other in scored) for one in scored]
    failed = sorted((one for one in found if one.reason), key=lambda one: one.name)
    return [*zip(ranks, scored, strict=True), *((0, one) for one in failed)]


def row(rank: int, one: Outcome) -> dict[str, Any]:
    """For JSON."""
    if one.reason:
        return {"design": one.name, "reason": one.reason}
    return {"rank": rank, "design": one.name} | {score: rounded(getattr(one, score)) for score in SCORES}


def rounded(value: float) -> float:
    """A score to its significant digits."""
    return float(f"{value:.{DIGITS}g}")


def _key(one: Outcome, by: Score) -> tuple[float, ...]:
    order = (by, *(score for score in SCORES if score != by))
    return tuple(rounded(getattr(one, score)) for score in order)
