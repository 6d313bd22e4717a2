"""Integer programs of the packing kind: yes-or-no variables with gains, and rows that bound weighted sums of them.

A program falls into parts without common rows, and the same part turns up again and again in the strands of kernels, so
each is solved once and remembered.  The solver is HiGHS.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

GAP = 1e-7
"""A choice whose gain is this close to the bound, relatively, counts as proven best."""
NODES = 500
"""Branches of the search after which a part counts as not proven, so that this does not depend on the host alone."""
REMEMBERED = 200_000

Row = tuple[tuple[tuple[int, int], ...], int]
"""(variable, weight) of each term, and what their sum may be at most."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The variables that are taken, their gain, a bound of what any choice gains, and whether it is reached."""

    taken: tuple[int, ...]
    gain: float
    bound: float
    proven: bool


@dataclass
class Packing:
    """A program in the making."""

    gains: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def variable(self, gain: float) -> int:
        """A new variable."""
        self.gains.append(gain)
        return len(self.gains) - 1

    def at_most(self, bound: int, terms: Sequence[tuple[int, int]]) -> None:
        """The weighted sum of some variables is at most ``bound``."""
        self.rows.append((tuple(terms), bound))


_known: dict[object, Solution] = {}


def solve(program: Packing, limit_s: float) -> Solution:
    """The choice that gains most; parts of it that take longer than what is left of ``limit_s`` are not proven."""
    deadline = time.monotonic() + limit_s
    taken: list[int] = []
    gain = bound = 0.0
    proven = True
    for variables, rows in _parts(program):
        part = _remembered([program.gains[v] for v in variables], rows, deadline)
        taken += [variables[v] for v in part.taken]
        gain, bound, proven = gain + part.gain, bound + part.bound, proven and part.proven
    return Solution(tuple(sorted(taken)), gain, bound, proven)


def _parts(program: Packing) -> list[tuple[list[int], list[Row]]]:
    """Variables that rows tie together, with those rows in terms of the variables' places in the part."""
    parent = list(range(len(program.gains)))

    def root(variable: int) -> int:
        while parent[variable] != variable:
            parent[variable] = parent[parent[variable]]
            variable = parent[variable]
        return variable

    for terms, _ in program.rows:
        first = root(terms[0][0])
        for variable, _ in terms[1:]:
            parent[root(variable)] = first
    members: dict[int, list[int]] = {}
    place = [0] * len(parent)
    for variable in range(len(parent)):
        part = members.setdefault(root(variable), [])
        place[variable] = len(part)
        part.append(variable)
    rows: dict[int, list[Row]] = {part: [] for part in members}
    for terms, most in program.rows:
        rows[root(terms[0][0])].append((tuple((place[v], weight) for v, weight in terms), most))
    return [(variables, rows[part]) for part, variables in members.items()]


def _remembered(gains: list[float], rows: list[Row], deadline: float) -> Solution:
    if not rows:
        taken = tuple(v for v, gain in enumerate(gains) if gain > 0)
        gain = sum(gains[v] for v in taken)
        return Solution(taken, gain, gain, True)
    key = (tuple(gains), tuple(rows))
    known = _known.get(key)
    if known is None:
        known = _solved(gains, rows, max(0.01, deadline - time.monotonic()))
        if known.proven and len(_known) < REMEMBERED:
            _known[key] = known
    return known


def _solved(gains: Sequence[float], rows: Sequence[Row], limit_s: float) -> Solution:
    starts = np.cumsum([0, *(len(terms) for terms, _ in rows)])
    flat = np.array([term for terms, _ in rows for term in terms])
    matrix = csr_array((flat[:, 1].astype(float), flat[:, 0], starts), shape=(len(rows), len(gains)))
    gain: NDArray[np.float64] = np.array(gains)
    found = milp(
        c=-gain,
        constraints=LinearConstraint(matrix, ub=np.array([most for _, most in rows], float)),
        integrality=np.ones(len(gains)),
        bounds=Bounds(0, 1),
        options={"time_limit": limit_s, "mip_rel_gap": GAP, "node_limit": NODES},
    )
    if found.x is None:
        return Solution((), 0.0, sum(one for one in gains if one > 0), False)
    taken = tuple(int(v) for v in np.flatnonzero(found.x > 0.5))
    reached = float(sum(gains[v] for v in taken))
    bound = -found.mip_dual_bound if found.mip_dual_bound is not None else np.inf
    return Solution(taken, reached, max(float(bound), reached), found.status == 0)
