"""Entries for stays that were chosen by their number alone: wide ones need neighbouring entries.

Stays of one register always find entries, in the order of time, if there are never more of them than entries.  Wide
ones may find enough entries free but no neighbours; then other entries for those before them may help.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.designs.placement.candidates import Candidate

MOST_STATES = 4000
"""Ways to occupy the entries that are followed at a time."""

FREE = -1
Ends = tuple[int, ...]
"""When the last stay in each entry ends; FREE before the moment looked at."""


class UndecidedError(Exception):
    """Too many ways to follow them all."""


def pack(stays: Sequence[Candidate], entries: int) -> list[int] | None:
    """The first entry of each stay, such that no two share an entry at a time; None if there is no such way.

    Raises UndecidedError if neither was found.
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
        if len(following) > MOST_STATES:
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


def culprits(stays: Sequence[Candidate], entries: int) -> list[int]:
    """Places of stays that find no entries together, though any fewer of them do; ``stays`` must find none."""
    left = list(range(len(stays)))
    for i in range(len(stays)):
        fewer = [j for j in left if j != i]
        if pack([stays[j] for j in fewer], entries) is None:
            left = fewer
    return left
