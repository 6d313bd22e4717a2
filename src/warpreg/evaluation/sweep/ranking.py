"""Ranks designs by a result of a sweep, and says what would turn the ranking.

Two designs are compared where both have a result: on the same run, machine and technology.  The ratio of one to the
other is the geometric mean over these places, of each workload first, so that workloads weigh the same.  Its interval
and the share of resamples in which one beats the other are those of a bootstrap over workloads (Efron, Annals of
Statistics, 1979, section 2).  A case turns the ranking if the ratio over the places of that case alone is on the other
side of 1.  If the technologies have a band, its ends are cases too, each over all places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.sweep.errors import SweepError

RESAMPLES = 2000
ENOUGH = 10
"""Workloads from which on the share of resamples is told.  Chosen, not measured: of n workloads there are at most
(2n - 1)! / n! / (n - 1)! different resamples, 35 of four and 92,378 of ten."""
INTERVAL = (2.5, 97.5)
"""Percent."""
ENERGY, ENERGY_ENDS = "energy_normalized", "energy_ends"
LOWER, HIGHER = (ENERGY, "cycles", "accesses_left"), ("speed", "ipc")
"""Results that are better if lower, or if higher."""
AXES = ("machine", "technology", "size", "seed", "workload")
COMPILE, DEFAULT = "compile.", "default"
"""The prefix of axes that are compile options, and the value of an option that is none of the command line."""
SAME = 1e-9
"""Ratios that differ from 1 by less are rounding."""
MOST = 1e9
"""The ratio of a number to zero, such that means of ratios exist."""
ENDS = ("band=low", "band=high")
"""The least and the most costly main register file of the technologies."""
Label = TypeVar("Label")
Place = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Results:
    """A result of designs by place: the values of all axes; energies also at the ends of the band, if there is one."""

    by: str
    values: Mapping[str, Mapping[Place, float]]
    ends: Mapping[str, Mapping[Place, Sequence[float]]] = field(default_factory=dict)

    @staticmethod
    def of(rows: Sequence[tuple[str, Mapping[str, Any]]], by: str) -> Results:
        """The results of rows, each with the label of its design; rows that failed are left out.

        Raises SweepError for a result that the rows do not have.
        """
        values: dict[str, dict[Place, float]] = {}
        ends: dict[str, dict[Place, Sequence[float]]] = {}
        for label, row in rows:
            if "error" not in row:
                values.setdefault(label, {})[place_of(row)] = _value(row, by)
                if by == ENERGY and ENERGY_ENDS in row:
                    ends.setdefault(label, {})[place_of(row)] = row[ENERGY_ENDS]
        return Results(by, values, ends)

    def ranked(self) -> list[str]:
        """The designs, the best first, by their means."""
        means = self.means()
        return sorted(means, key=lambda label: (means[label] * (1 if self.by in LOWER else -1), label))

    def shared(self) -> set[Place]:
        """The places at which all designs have a result."""
        return set.intersection(*(set(one) for one in self.values.values())) if self.values else set()

    def means(self) -> dict[str, float]:
        """The geometric mean of each design over workloads, at the places that all designs have; if there are none, at
        its own.
        """
        shared = self.shared()
        return {label: _mean({place: own[place] for place in shared} or own) for label, own in self.values.items()}

    def compared(self, one: str, two: str) -> Comparison | None:
        """Two designs, where both have a result, the better one first; None if that is nowhere.

        The better one may have the worse mean in `ranked`, which looks at fewer places if other designs have failed.
        """
        found = self._compared(one, two)
        return found if found is None or found.ratio >= 1 - SAME else self._compared(two, one)

    def _compared(self, better: str, other: str) -> Comparison | None:
        shared = {
            place: self._ratio(value, self.values[other][place])
            for place, value in self.values[better].items()
            if place in self.values[other]
        }
        if not shared:
            return None
        low, high, share = _bootstrap(shared)
        cases = [*_cases(shared), *self._at_the_ends(better, other)]
        turned = tuple((case, ratio) for case, ratio in cases if ratio < 1 - SAME)
        workloads = len(_by_workload(shared))
        return Comparison(better, other, _mean(shared), low, high, share, turned, len(shared), workloads)

    def _at_the_ends(self, better: str, other: str) -> Iterator[tuple[str, float]]:
        """The ratio at each end of the band, where both designs have one."""
        first, second = self.ends.get(better, {}), self.ends.get(other, {})
        shared = [place for place in first if place in second]
        if shared:
            for end, name in enumerate(ENDS):
                yield name, _mean({place: self._ratio(first[place][end], second[place][end]) for place in shared})

    def _ratio(self, one: float, two: float) -> float:
        """How much better the first value is: above 1 if it is."""
        if min(one, two) <= 0:
            return 1.0 if one == two else MOST if (one < two) == (self.by in LOWER) else 1 / MOST
        return two / one if self.by in LOWER else one / two


@dataclass(frozen=True, slots=True)
class Comparison:
    """``better`` is ``ratio`` times as good as ``other``, with its interval; it is in ``share`` of the resamples.
    `certainty` is that share where there are `ENOUGH` workloads.

    ``turned``: the cases in which it is not, each with its ratio; of ``places`` in all.
    """

    better: str
    other: str
    ratio: float
    low: float
    high: float
    share: float
    turned: tuple[tuple[str, float], ...]
    places: int
    workloads: int

    @property
    def is_tie(self) -> bool:
        """Whether the two are equal on every workload."""
        return max(abs(1 - self.low), abs(1 - self.high)) < SAME

    @property
    def certainty(self) -> float | None:
        """The share of resamples in which ``better`` is better; None where fewer than `ENOUGH` workloads say little."""
        return self.share if self.workloads >= ENOUGH else None

    def __str__(self) -> str:
        unless = f", unless {', '.join(case for case, _ in self.turned)}" if self.turned else ""
        if self.is_tie and not self.turned:
            return f"{self.better} and {self.other} are equal"
        beats = f"{self.better} beats {self.other}: {_shown(self.ratio)} times as good"
        if self.workloads == 1:
            return f"{beats} on the one workload{unless}"
        interval = f"({_shown(self.low)} to {_shown(self.high)})"
        if self.certainty is None:
            return f"{beats} {interval} on {self.workloads} workloads{unless}"
        return f"{beats} {interval}, in {self.certainty:.0%} of resamples of {self.workloads} workloads{unless}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "better": self.better,
            "other": self.other,
            "ratio": self.ratio,
            "interval": [self.low, self.high],
            "share_of_resamples": self.certainty,
            "turned_by": dict(self.turned),
            "places": self.places,
            "workloads": self.workloads,
        }


def _shown(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 1000 else f"{ratio:.0e}"


def front(points: Mapping[Label, Sequence[float]]) -> list[Label]:
    """The Pareto front: labels of the points that no other is at least as low as in all, and lower in one."""
    return [
        label
        for label, own in points.items()
        if not any(_dominates(other, own) for name, other in points.items() if name != label)
    ]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


def place_of(row: Mapping[str, Any]) -> Place:
    """The values of all axes in a row."""
    compiled = tuple((f"{COMPILE}{name}", str(value)) for name, value in row["compile"].items())
    return (*((axis, str(row[axis])) for axis in AXES), *compiled)


def _value(row: Mapping[str, Any], by: str) -> float:
    if by == "accesses_left":
        return 1 - float(row["elided"])
    if by not in row:
        raise SweepError(f"{by}: the cells have no such result; it requires cycles = true")
    return float(row[by])


def _mean(values: Mapping[Place, float]) -> float:
    """The geometric mean over workloads of that over their places."""
    return geometric_mean(_by_workload(values).values())


def _by_workload(values: Mapping[Place, float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for place, value in values.items():
        found.setdefault(dict(place)["workload"], []).append(value)
    return {workload: geometric_mean(own) for workload, own in found.items()}


def _bootstrap(ratios: Mapping[Place, float]) -> tuple[float, float, float]:
    """Interval of the mean ratio, and the share of resamples of workloads in which it is above 1."""
    logs: NDArray[np.float64] = np.log(np.array(list(_by_workload(ratios).values())))
    chosen = np.random.default_rng(0).integers(0, logs.size, (RESAMPLES, logs.size))
    means = logs[chosen].mean(axis=1)
    low, high = np.exp(np.percentile(means, INTERVAL))
    return float(low), float(high), float((means > SAME).mean())


def _cases(ratios: Mapping[Place, float]) -> Iterator[tuple[str, float]]:
    """Each value of each axis along which the places differ, with the ratio there.

    A compile option that a place does not name has its default there.
    """
    axes = dict.fromkeys(axis for place in ratios for axis, _ in place)
    for axis in axes:
        cases: dict[str, dict[Place, float]] = {}
        for place, ratio in ratios.items():
            cases.setdefault(dict(place).get(axis, _default(axis)), {})[place] = ratio
        if len(cases) > 1:
            yield from ((f"{axis}={value}", _mean(own)) for value, own in sorted(cases.items()))


def _default(axis: str) -> str:
    """The value of a compile option that a place does not name."""
    return str(AS_COMPILED.as_dict().get(axis.removeprefix(COMPILE), DEFAULT))
