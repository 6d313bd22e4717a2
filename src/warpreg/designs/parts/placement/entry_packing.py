"""Assigns entries to stays, once the number of stays at each moment is known to fit.

Stays of one register always fit if there are never more of them than entries.  Wide stays need adjacent entries, and
free entries may be fragmented; a different assignment of earlier stays can avoid that.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.designs.parts.placement.candidates import Candidate

MAX_STATES = 4000
"""The most occupation states that the search keeps at a time."""

FREE = -1
Ends = tuple[int, ...]
"""When the last stay in each entry ends; FREE if that is before the current moment."""


class UndecidedError(Exception):
    """The search exceeds MAX_STATES."""


def pack(stays: Sequence[Candidate], entries: int) -> list[int] | None:
    """The first entry of each stay, such that no two share an entry at a time; None if that is impossible.

    Raises UndecidedError if the search was too large to decide.
    """
    order = sorted(range(len(stays)), key=lambda i: (stays[i].span[0], -stays[i].width))
    states: dict[Ends, tuple[Ends, int]] = {(FREE,) * entries: ((), 0)}
    steps = []
    for i in order:
        following: dict[Ends, tuple[Ends, int]] = {}
        for state in states:
            for first, after in _ways(state, stays[i]):
                following.setdefault(after, (state, first))
        if not following:
            return None
        if len(following) > MAX_STATES:
            raise UndecidedError
        steps.append(following)
        states = following
    firsts = [0] * len(stays)
    state = next(iter(states))
    for i, step in zip(reversed(order), reversed(steps), strict=True):
        state, firsts[i] = step[state]
    return firsts


def _ways(ends: Ends, stay: Candidate) -> list[tuple[int, Ends]]:
    begin, end = stay.span
    now = tuple(at if at >= begin else FREE for at in ends)
    return [
        (first, now[:first] + (end,) * stay.width + now[first + stay.width :])
        for first in range(len(now) - stay.width + 1)
        if max(now[first : first + stay.width]) == FREE
    ]


def minimal_conflict(stays: Sequence[Candidate], entries: int) -> list[int]:
    """Indices of a minimal subset of ``stays`` that cannot be packed; ``stays`` itself must not be packable."""
    left = list(range(len(stays)))
    for i in range(len(stays)):
        fewer = [j for j in left if j != i]
        if pack([stays[j] for j in fewer], entries) is None:
            left = fewer
    return left
