"""0-1 packing programs: binary variables with gains, and rows that bound weighted sums of them.

A program is decomposed into independent components (no common rows).  The same component occurs in many strands, so its
solution is cached.  The solver is HiGHS.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

GAP = 1e-7
"""Relative gap to the bound below which a solution counts as proven optimal."""
NODES = 500
"""Search nodes after which a component counts as not proven; unlike time, it does not depend on the host."""
CACHE_SIZE = 200_000

Row = tuple[tuple[tuple[int, int], ...], int]
"""(variable, weight) of each term, and the upper bound of their sum."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The variables that are 1, their gain, an upper bound of the gain, and whether optimality is proven."""

    taken: tuple[int, ...]
    gain: float
    bound: float
    proven: bool


@dataclass
class Packing:
    """A program under construction."""

    gains: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def variable(self, gain: float) -> int:
        """Add a variable; returns its index."""
        self.gains.append(gain)
        return len(self.gains) - 1

    def at_most(self, bound: int, terms: Sequence[tuple[int, int]]) -> None:
        """Add a row: the weighted sum of some variables is at most ``bound``."""
        self.rows.append((tuple(terms), bound))


_cache: dict[object, Solution] = {}


def solve(program: Packing, limit_s: float) -> Solution:
    """The solution of maximum gain; components that exceed the remaining time of ``limit_s`` are not proven."""
    deadline = time.monotonic() + limit_s
    taken: list[int] = []
    gain = bound = 0.0
    proven = True
    for variables, rows in _components(program):
        part = _solve_cached([program.gains[v] for v in variables], rows, deadline)
        taken += [variables[v] for v in part.taken]
        gain, bound, proven = gain + part.gain, bound + part.bound, proven and part.proven
    return Solution(tuple(sorted(taken)), gain, bound, proven)


def _components(program: Packing) -> list[tuple[list[int], list[Row]]]:
    """Variables connected by rows, with those rows in terms of the variables' indices in the component."""
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


def _solve_cached(gains: list[float], rows: list[Row], deadline: float) -> Solution:
    if not rows:
        taken = tuple(v for v, gain in enumerate(gains) if gain > 0)
        gain = sum(gains[v] for v in taken)
        return Solution(taken, gain, gain, True)
    key = (tuple(gains), tuple(rows))
    solution = _cache.get(key)
    if solution is None:
        solution = _solve(gains, rows, max(0.01, deadline - time.monotonic()))
        if solution.proven and len(_cache) < CACHE_SIZE:
            _cache[key] = solution
    return solution


def _solve(gains: Sequence[float], rows: Sequence[Row], limit_s: float) -> Solution:
    from scipy.optimize import Bounds, LinearConstraint, milp  # most runs solve nothing
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(terms) for terms, _ in rows)])
    flat = np.array([term for terms, _ in rows for term in terms])
    matrix = csr_array((flat[:, 1].astype(float), flat[:, 0], starts), shape=(len(rows), len(gains)))
    gain: NDArray[np.float64] = np.array(gains)
    with _silent_solver():
        result = milp(
            c=-gain,
            constraints=LinearConstraint(matrix, ub=np.array([most for _, most in rows], float)),
            integrality=np.ones(len(gains)),
            bounds=Bounds(0, 1),
            options={"time_limit": limit_s, "mip_rel_gap": GAP, "node_limit": NODES},
        )
    if result.x is None:
        return Solution((), 0.0, sum(one for one in gains if one > 0), False)
    taken = tuple(int(v) for v in np.flatnonzero(result.x > 0.5))
    reached = float(sum(gains[v] for v in taken))
    bound = -result.mip_dual_bound if result.mip_dual_bound is not None else np.inf
    return Solution(taken, reached, max(float(bound), reached), result.status == 0)


@contextlib.contextmanager
def _silent_solver() -> Iterator[None]:
    """Discard lines that HiGHS writes to the standard output of the process whatever its options are."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)
